"""Names of graphs and angles in the overrides of a job, and in result rows."""

GRAPHS = {"ero": "erdos_renyi", "bao": "barabasi_albert", "rggo": "random_geometric"}
PRIORS = {
    "gamma": "GammaAngles",
    "normal_rank1": "NormalRankOneAngles",
    "normal_iid": "NormalIIDAngles",
    "normal_blocks": "NormalBlockAngles",
}
