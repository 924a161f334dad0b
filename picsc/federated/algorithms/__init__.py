"""Federated algorithms, one file each, under the names that their papers gave them.

- `by_name`: the algorithm that a method name stands for, with its constants from the settings
- `fedavg`: FedAvg and FedProx: clients train locally, and the server takes the mean of their models
- `fedcurv`: FedCurv: a penalty holds each client near the other clients' models, weighted by their Fisher informations
- `picsc`: the paper's method on clients: Algorithm 2 with a smoothed Fisher information kept by the server
- `protocol`: the interface of an algorithm: four functions, of server and clients, that one loop of rounds calls
- `scaffold`: SCAFFOLD: local steps corrected by control variates against client drift
- `server`: the step of the server from its model towards the aggregated one, with a learning rate and momentum
"""
