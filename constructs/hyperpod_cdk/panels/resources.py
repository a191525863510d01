"""What becomes of the panels in AWS: a dashboard and alarms, and rules in a workspace."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import Duration, Stack
from aws_cdk import aws_aps as aps
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_cdk.panels.definition import (
    PERIOD_MINUTES,
    Alarm,
    Line,
    Panel,
    Subject,
    Watched,
)
from hyperpod_cdk.panels.rules import rules
from hyperpod_cdk.panels.subjects import shown

# A dashboard's grid has 24 columns.
_WIDTH, _HEIGHT = 12, 6
_PERIOD = Duration.minutes(PERIOD_MINUTES)


class PanelsAndAlarms(Construct):
    """A dashboard with what there is to see of a deployment, and its alarms.

    The topic that gets them lets CloudWatch publish; without one, they send no message.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        watched: Watched,
        topic: sns.ITopic | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._watched = watched
        self.alarms: list[cloudwatch.Alarm] = []
        dashboard = cloudwatch.Dashboard(
            self, "Dashboard", dashboard_name=Stack.of(self).stack_name
        )
        for subject, panels in shown(watched):
            dashboard.add_widgets(
                cloudwatch.TextWidget(markdown=f"## {subject.title}", width=24, height=1)
            )
            dashboard.add_widgets(*(self._widget(subject, panel) for panel in panels))
            for panel in panels:
                self._add_alarms(subject, panel)
        if topic is not None:
            for alarm in self.alarms:
                alarm.add_alarm_action(actions.SnsAction(topic))

    def _widget(self, subject: Subject, panel: Panel) -> cloudwatch.IWidget:
        lines = [
            self._metric(
                subject, line, dimensions=dimensions, label=f"{place} {line.label}".strip()
            )
            for place, dimensions in self._watched.places_of(subject, panel).items()
            for line in self._watched.lines_of(panel)
        ]
        alarm = panel.alarm
        return cloudwatch.GraphWidget(
            title=panel.title,
            left=lines,
            left_y_axis=cloudwatch.YAxisProps(
                label=panel.symbol or "number", min=0, show_units=False
            ),
            left_annotations=[]
            if alarm is None
            else [cloudwatch.HorizontalAnnotation(value=alarm.threshold, label=alarm.name)],
            period=_PERIOD,
            width=_WIDTH,
            height=_HEIGHT,
        )

    def _add_alarms(self, subject: Subject, panel: Panel) -> None:
        if panel.alarm is None:
            return
        for place, dimensions in self._watched.places_of(subject, panel).items():
            suffix = f"-{place}" if place else ""
            alarm = cloudwatch.Alarm(
                self,
                f"{panel.alarm.name}{suffix}",
                alarm_description=f"{panel.title}. {panel.description}",
                metric=self._metric(
                    subject, panel.cloudwatch[0], dimensions=dimensions, label=panel.title
                ),
                **_condition(panel.alarm),
            )
            self.alarms.append(alarm)

    def _metric(
        self, subject: Subject, line: Line, *, dimensions: Mapping[str, str], label: str
    ) -> cloudwatch.IMetric:
        metrics = [
            cloudwatch.Metric(
                namespace=subject.namespace,
                metric_name=metric,
                dimensions_map=dimensions,
                statistic=line.statistic,
                period=_PERIOD,
                label=label,
            )
            for metric in line.metrics
        ]
        if not line.expression:
            (metric,) = metrics
            return metric
        # Each line has names of its own in a graph. L2 warns of names that it cannot read, which
        # a search has none of.
        prefix = f"{''.join(each for each in label.lower() if each.isalnum())}_"
        expression = self._watched.filled(line.expression)
        using = dict[str, cloudwatch.IMetric]()
        for number, metric in enumerate(metrics, start=1):
            expression = expression.replace(f"m{number}", f"{prefix}m{number}")
            using[f"{prefix}m{number}"] = metric
        return cloudwatch.MathExpression(
            expression=expression, using_metrics=using, label=label, period=_PERIOD
        )


def _condition(alarm: Alarm) -> dict[str, Any]:
    above = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
    below = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
    return {
        "threshold": alarm.threshold,
        "comparison_operator": above if alarm.is_above else below,
        "evaluation_periods": alarm.minutes // PERIOD_MINUTES,
        # Without nodes there are no metrics, and nothing is wrong.
        "treat_missing_data": cloudwatch.TreatMissingData.NOT_BREACHING,
    }


class PrometheusRules(Construct):
    """What is recorded of a deployment, and when someone is told, in a workspace."""

    def __init__(
        self, scope: Construct, construct_id: str, *, watched: Watched, workspace_arn: str
    ) -> None:
        super().__init__(scope, construct_id)
        # L1: the CDK has no other.
        aps.CfnRuleGroupsNamespace(
            self, "Rules", name=watched.name, workspace=workspace_arn, data=rules(watched)
        )
