"""Federated training: algorithms compared on simulated clients, and their audit by what they send.

- `all_repeats`: all repeats: rates chosen that are stable in all of them, and the runs
- `audit_clients`: the verb `audit_clients`: a search for shifted clients from statistics that each of them sends
- `build_clients`: the network and the local training that go with the data: clients ready to train
- `cell_sizes`: the bounds below which a cell is too small to be sent
- `client_findings`: findings on reading and dealing out: columns, clients, classes, rows trained on and tested
- `client_history`: accuracy of a method on every client over the rounds, and what it forgets
- `client_metrics`: metrics by name on the test rows of each client
- `client_shift`: tests for label shift, and for covariate shift beyond it, that see the rows of all clients
- `client_summary`: the statistics that a client sends in place of its rows, whatever their number
- `federate`: the verb `federate`: FedAvg, FedProx, SCAFFOLD, FedCurv, PIcsC and its controls on the same clients
- `holdings`: the rows of one data set dealt out to clients, each with training rows and test rows
- `method_run`: one method with one seed: learning rate, sizes, and the scores of every round
- `method_summary`: one method in the report: means over seeds, intervals, differences from the other methods
- `own_rows`: training rows and test rows of one client among its own rows
- `refit`: the global model of one method, trained on all rows of all clients, for use on new rows
- `repeats`: one seed: clients dealt out, candidates of learning rates tried, all rounds of all methods run
- `resumable_rounds`: the loop over rounds, stored in the run folder so that an interrupted run can continue
- `rounds`: one round of every algorithm: local training, uploads, aggregation, scores
- `run_state`: one algorithm in a comparison, and its state between two rounds
- `small_cells`: the parts of a client's statistics that so few rows decide that they are not sent
- `summary`: the report: all methods, the differences between clients, and notes
- `summary_tests`: tests for shifted clients that see only the statistics that clients send
- `three_lines`: the three lines on top of the report
- `tuning`: the choice of learning rates and constants, with the same number of tries for every method
- `algorithms`: federated algorithms, one file each, under the names that their papers gave them
- `clients`: clients of a federation: everything that is computed on their own rows
- `flower`: real clients with Flower, around the same algorithms and rounds
"""
