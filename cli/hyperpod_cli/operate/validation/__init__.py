"""What nodes and pairs of nodes can do: their devices, the fabric, the file system, a rendezvous."""
