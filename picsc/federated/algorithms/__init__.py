"""Federated algorithms by the names of the papers: one file an algorithm.

- `by_name`: the algorithm of a name, with its constants from the settings
- `fedavg`: FedAvg and FedProx: local training, then the mean of the models
- `fedcurv`: fedCurv: clients held near the others' models by the others' Fisher informations
- `picsc`: PIcsC on clients: Algorithm 2 with a smoothed Fisher information kept by the server
- `protocol`: the interface of a federated algorithm: four functions that one loop runs (paper, E6 and Algorithm 2)
- `scaffold`: SCAFFOLD: local steps corrected by control variates
- `server`: the step of the server towards what the clients' models were joined to
"""
