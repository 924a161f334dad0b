"""What clients compute on their own rows.

- `evaluation`: how good global models are for each client
- `local_steps`: which rows every client sees in which local step
- `local_terms`: what a federated algorithm tells a client's optimiser, and what the client has afterwards
- `mlps`: clients whose networks have one hidden layer, all of a round at once
- `networks`: clients whose networks are any modules: one model at a time, several clients on as many threads
- `whitening`: coordinates in which the input factor of a dense layer's Fisher information is round; f features
"""
