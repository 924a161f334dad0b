"""Federated training and the audit of clients.

- `audit_clients`: the federated audit: which clients are shifted, told from summaries alone (paper, Eq. 1, 8 and 14)
- `build_clients`: clients with their networks: what trains on the rows that each of them holds
- `client_shift`: how the clients of a federation differ: in their labels, and in their covariates beyond that
- `client_summary`: what a client tells the server about its rows, in numbers whose size does not depend on them (paper,
  Eq. 1, 8, 14)
- `federate`: the verb `federate`: clients that never share a row, under FedAvg, FedProx, SCAFFOLD, PIcsC and its
  controls
- `holdings`: from one data set to simulated clients: who holds which rows, which of them judge, and what trains on them
- `rounds`: the rounds of federated learning, written once for all algorithms (paper, E6)
- `summary`: from the rounds of every method and seed to one report
- `summary_tests`: which clients' rows are shifted, told from their summaries alone (paper, Eq. 8, 14 and Algorithm 2)
- `algorithms`: federated algorithms by the names of the papers: one file an algorithm
- `clients`: what clients compute on their own rows
"""
