"""`Custom::LifecycleScripts`."""
