"""A whole deployment in an app of your own: `cdk deploy --all --app "python app.py"`."""

import aws_cdk as cdk

from hyperpod_cdk import load_config
from hyperpod_stacks.deployment import add_stacks

app = cdk.App()
add_stacks(app, config=load_config("config/default.yaml"))
app.synth()
