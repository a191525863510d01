"""`report.html`: a deployment or a rehearsal in one page, to look at instead of reading logs."""
