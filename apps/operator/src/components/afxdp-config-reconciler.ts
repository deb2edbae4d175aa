// SPDX-License-Identifier: Apache-2.0
/**
 * createAfxdpConfigReconciler reports in the conditions of the AfxdpOperatorConfig "default" whether the components for AF_XDP are
 * deployed as it says. The controller "operator-config" deploys them.
 */
import { operatorConfigName, operatorConfigReasons, type AfxdpOperatorConfig } from "@switchyard/api";
import type { Cache, Reconcile, Writer } from "@switchyard/kube";
import { conditionsFor, type ConditionSummary } from "../reports/condition-summary.ts";
import type { RecordTransition } from "../reports/transition-events.ts";

export interface AfxdpConfigDeps {
  readonly configs: Cache<AfxdpOperatorConfig>;
  /** Returns the present state of the components for AF_XDP. */
  readonly components: (config: AfxdpOperatorConfig) => ConditionSummary;
  /** Whether the API server serves a kind by which bpfman loads XDP programs. */
  readonly hasBpfman: () => boolean;
  readonly writer: Writer<AfxdpOperatorConfig>;
  readonly recordTransition: RecordTransition;
  readonly now: () => Date;
}

/** The state of the device plugin where a SriovOperatorConfig exists. */
export interface DevicePluginState {
  /** Name of the component. */
  readonly name: string;
  /** Why it cannot be deployed, with the field before each message. */
  readonly problems: readonly string[];
  /** Whether the DaemonSet exists. */
  readonly isDeployed: boolean;
  /** What is still missing; undefined if all pods run, or if none are wanted. */
  readonly pending: string | undefined;
  /** Why it can run on no node. */
  readonly unplaced?: readonly string[] | undefined;
}

const { ready, rollingOut, unsupported } = operatorConfigReasons;

const unused: ConditionSummary = {
  state: "degraded",
  reason: unsupported,
  message: `metadata.name: this object has no effect; only the AfxdpOperatorConfig "${operatorConfigName}" is used`,
};

export function createAfxdpConfigReconciler(deps: AfxdpConfigDeps): Reconcile {
  const { configs, writer, recordTransition, now } = deps;
  return async function reconcile(name, signal) {
    const config = configs.get(name);
    if (config === undefined || config.metadata.deletionTimestamp !== undefined) return undefined;
    const summary =
      name === operatorConfigName
        ? withProblems(withoutEffect(config.spec ?? {}, deps.hasBpfman()), deps.components(config))
        : unused;
    const { generation = 0 } = config.metadata;
    const conditions = conditionsFor(summary, config.status?.conditions ?? [], generation, now());
    const status = { conditions, observedGeneration: generation };
    if ((await writer.applyStatus({ metadata: { name }, status }, signal)) === "written") {
      recordTransition(config, summary);
    }
    return undefined;
  };
}

function withProblems(problems: readonly string[], components: ConditionSummary): ConditionSummary {
  if (problems.length === 0) return components;
  const all = components.state === "degraded" ? [...problems, components.message] : problems;
  return { state: "degraded", reason: unsupported, message: all.join("; ") };
}

/** Missing pods only set Progressing, so that one node that is down for long does not unset Ready. */
export function devicePluginSummary({
  name,
  problems,
  isDeployed,
  pending,
  unplaced = [],
}: DevicePluginState): ConditionSummary {
  if (problems.length > 0) return { state: "degraded", reason: unsupported, message: problems.join("; ") };
  if (unplaced.length > 0) return { state: "progressing", reason: rollingOut, message: unplaced.join("; ") };
  const progress = pending === undefined ? undefined : { reason: rollingOut, message: pending };
  if (!isDeployed) return { state: "progressing", reason: rollingOut, message: pending ?? "" };
  return { state: "ready", reason: ready, message: `deployed as configured: ${name}`, progress };
}

/** Values of the API that this cluster cannot apply. */
function withoutEffect({ loader }: NonNullable<AfxdpOperatorConfig["spec"]>, hasBpfman: boolean): readonly string[] {
  return [
    ...(loader === "bpfman" && !hasBpfman
      ? [
          "spec.loader: bpfman is not installed: the API server has neither ClusterBpfApplications nor XdpPrograms of " +
            "bpfman.io/v1alpha1; install bpfman, or use loader builtin",
        ]
      : []),
  ];
}
