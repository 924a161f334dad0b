"""Real clients with Flower: each reads its own file, and sends what a simulated one sends.

- `answers`: the answers of one client to the messages of the server
- `asked`: what the server asks its clients for, as text; the encoding that all use
- `client_app`: the ClientApp, between Flower and the client's own rows
- `client_files`: clients of one data set as files of their own, for nodes of this machine
- `files_of_run`: names of the files that the ServerApp leaves
- `grid`: the way of messages through the SuperLink, and clients that are gone
- `loopback`: a federation on nodes of this machine, as `--engine flower` runs it
- `memory`: what a client remembers between rounds, in a folder of its own
- `model_answers`: the answers for which a client needs a model: summaries, training, scores
- `node_clients`: one client ready to train, encoded as all are
- `node_rows`: the file of one client, and what it says of it before training
- `pooled_scores`: scores over all clients, from the few numbers that each sends
- `processes`: a SuperLink and SuperNodes as processes of this machine
- `project`: a Flower project for the settings of a federation
- `remote`: clients on machines of their own, as the loop over rounds sees them
- `report`: the report of real clients
- `rounds_on_nodes`: the server's side, from the first message to the last round
- `runs_file`: all runs as one file of arrays
- `scales`: means and deviations over the rows of all clients
- `schema`: the columns that clients say they have, and those that all agree on
- `server_app`: the ServerApp, which writes the report
- `settings_of_clients`: the settings that real clients have
- `summary_arrays`: summaries of clients as arrays, and back
- `wire`: messages of Flower, text and tensors
"""
