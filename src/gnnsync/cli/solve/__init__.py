"""`gnnsync solve`: its options, its two ways of solving (angles, poses), and its summary."""
