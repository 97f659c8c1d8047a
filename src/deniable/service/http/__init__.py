"""The collector over HTTP: routes, bodies, problems, connections."""
