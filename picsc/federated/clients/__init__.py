"""Clients of a federation: everything that is computed on their own rows.

- `build_mlps`: clients with networks of one hidden layer, made of encoded rows
- `evaluation`: scores of the global model on the test rows of each client
- `local_round`: the part of a round that runs where the rows are: training, uploads, and what a client keeps
- `local_steps`: minibatches: the rows that each client uses in each local step
- `local_terms`: terms that a federated algorithm adds to the local gradient, and the models after local training
- `mlps`: clients whose networks have one hidden layer; all clients of a round train at once
- `networks`: clients with any PyTorch network; one model trains at a time, several clients on as many threads
- `protocol`: what a server asks its clients for, and the interface that both kinds of clients have in common
- `whitening`: linear map of a table's columns after which they are uncorrelated and of unit second moment
"""
