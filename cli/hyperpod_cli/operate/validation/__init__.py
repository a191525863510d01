"""What nodes and pairs of nodes can do: devices, the fabric, the file system, a rendezvous."""
