"""The training of the inductive network: loss, Lightning module, method and what they write."""
