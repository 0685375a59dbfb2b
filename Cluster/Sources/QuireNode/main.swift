print("quire-node")
