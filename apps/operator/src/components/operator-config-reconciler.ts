// SPDX-License-Identifier: Apache-2.0
/**
 * createOperatorConfigReconciler deploys the components that the SriovOperatorConfig "default" enables, and reports
 * their state in its conditions (sriov-operator.md A.6, H). Without it, what AF_XDP needs is deployed if there is an
 * AfxdpOperatorConfig "default", and nothing otherwise. A SriovOperatorConfig with another name gets a condition that says that it
 * has no effect.
 */
import {
  conditionTypes,
  operatorConfigName,
  operatorConfigReasons,
  type AfxdpOperatorConfig,
  type Node,
  type ObjectMeta,
  type OwnerReference,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { isKubeError, type Cache, type Reconcile, type Requeue, type Writer } from "@switchyard/kube";
import {
  afxdpComponents,
  injectorConfigName,
  placementProblems,
  renderComponents,
  type ComponentSettings,
  type Manifest,
  type OperatorConfigs,
  type RenderedComponents,
} from "@switchyard/render";
import { conditionsFor, type ConditionSummary } from "../reports/condition-summary.ts";
import type { RecordContest } from "../reports/contest-events.ts";
import type { RecordTransition } from "../reports/transition-events.ts";
import {
  describeFailure,
  operatorConfigSummary,
  unusedConfigSummary,
  type Unserved,
} from "./operator-config-summary.ts";
import type { FindPodRefusals, PodRefusals } from "./pod-refusals.ts";
import { removeUnowned, syncComponents, type SyncDeps, type SyncOutcome } from "./sync-components.ts";
import type { SyncFailure } from "./component-objects.ts";

export interface OperatorConfigDeps extends SyncDeps {
  readonly configs: Cache<SriovOperatorConfig>;
  /** Returns the nodes of the cluster, with their taints; empty if they are not known. */
  readonly nodes: () => readonly Node[];
  /** Returns the settings for the current state of the cluster. */
  readonly settings: () => ComponentSettings;
  /** Returns the AfxdpOperatorConfig "default"; undefined if it does not exist or is being deleted. */
  readonly afxdp: () => AfxdpOperatorConfig | undefined;
  /** Returns the owner of cluster-scoped objects; undefined if they have none. */
  readonly owner: () => OwnerReference | undefined;
  readonly writer: Writer<SriovOperatorConfig>;
  /** Called with the outcome of a pass without a SriovOperatorConfig; undefined after a pass with one. */
  readonly reportAfxdp: (summary: ConditionSummary | undefined) => void;
  /** Reports whether the API server still has this config and does not delete it. Rejects with KubeError. */
  readonly configExists: (config: SriovOperatorConfig | AfxdpOperatorConfig, signal: AbortSignal) => Promise<boolean>;
  /** Removes the finalizer of upstream's operator. Sends nothing if the object has none. Rejects with KubeError. */
  readonly removeFinalizer: (metadata: ObjectMeta, signal: AbortSignal) => Promise<void>;
  readonly recordTransition: RecordTransition;
  readonly recordContest: RecordContest;
  readonly findPodRefusals: FindPodRefusals;
  readonly now: () => Date;
  /** A clock that nobody sets. */
  readonly elapsedMs: () => number;
}

/** Objects changed during the pass. The caches show the changes soon. */
const recheck = { afterMs: 500 };

/** Refused requests are retried after this time, and whenever something changes. */
const retryRefused = { afterMs: 5_000 };

/** The writer applies objects whose fields were replaced again after some minutes: the webhook may be gone. */
const retryReplaced = { afterMs: 60_000 };

export function createOperatorConfigReconciler(deps: OperatorConfigDeps): Reconcile {
  const { configs, log } = deps;
  /** The failures of the last pass, which are not logged again. */
  let logged: readonly string[] = [];
  /** The spec that was logged last: UID and generation. */
  let loggedSpec: string | undefined;
  const unservedOf = createServiceWatch(deps.elapsedMs);

  return async function reconcile(name, signal) {
    const config = configs.get(name);
    const isPresent = config !== undefined && config.metadata.deletionTimestamp === undefined;
    if (name !== operatorConfigName) {
      const failures = await removeUpstreamFinalizer(deps, config, signal);
      const contested = isPresent ? await writeStatus(deps, config, unusedConfigSummary, signal) : undefined;
      return failures.length === 0 ? contested : retryRefused;
    }
    const afxdp = deps.afxdp();
    const owner = isPresent ? config : afxdp;
    if (owner === undefined) {
      deps.reportAfxdp(undefined);
      const outcome = await removeUnowned(deps, signal);
      return requeueAfter(withFailures(outcome, await removeUpstreamFinalizer(deps, config, signal)));
    }

    const rendered = render(deps, { sriov: isPresent ? config : undefined, afxdp });
    // An object may be missing because the garbage collector deleted it with a config that the cache still shows.
    if (isAnyMissing(deps, rendered) && !(await deps.configExists(owner, signal))) return recheck;
    const report = isPresent ? beginReport(config, rendered) : undefined;
    const synced = await syncComponents(deps, rendered.components, signal);
    // The AfxdpOperatorConfig reports its own components, unless they are all that is deployed.
    const own = isPresent
      ? rendered.components.filter(({ name: component }) => !isOfAfxdp(component))
      : rendered.components;
    const refused = await deps.findPodRefusals(synced.lacking, signal);
    const pending = [...synced.pending, ...refused.sentences];
    const outcome = { ...synced, pending, unplaced: placementProblems(own, deps.nodes()) };
    // The finalizer comes last: if upstream left its webhook registered without a server, the API server refuses to
    // change the SriovOperatorConfig until the registration is corrected (sriov-operator.md M-50).
    const whole = withFailures(outcome, await removeUpstreamFinalizer(deps, config, signal));
    deps.reportAfxdp(isPresent ? undefined : operatorConfigSummary(rendered, whole));
    if (isPresent) {
      const unserved = unservedOf(config);
      const summary = operatorConfigSummary(ofSriov(rendered), whole, unserved);
      const contested = await writeStatus(deps, config, summary, signal);
      report?.(whole);
      return requeueAfter(whole) ?? (unserved?.isLate === false ? { afterMs: serviceMs } : (contested ?? ask(refused)));
    }
    return requeueAfter(whole) ?? ask(refused);
  };

  /** Logs that a changed spec is applied, once. The returned function logs what came of it. Other passes log only what they write. */
  function beginReport({ metadata, spec }: SriovOperatorConfig, { components }: RenderedComponents) {
    const { uid = "", generation = 0 } = metadata;
    const current = `${uid}/${generation}`;
    if (current === loggedSpec) return undefined;
    log.info({ generation }, "Reconciling SriovOperatorConfig");
    for (const { name, state, objects } of components) {
      log.debug({ component: name, state, objects: objects.length }, "applying component");
    }
    return ({ failures }: SyncOutcome): void => {
      loggedSpec = current;
      const inState = (wanted: string) => components.flatMap(({ name, state }) => (state === wanted ? [name] : []));
      const states = { deployed: inState("deployed"), disabled: inState("disabled"), failed: inState("failed") };
      const settings = { disableDrain: spec?.disableDrain ?? false, logLevel: spec?.logLevel };
      log.info({ generation, ...states, ...settings, refused: failures.length }, "SriovOperatorConfig is reconciled");
    };
  }

  function requeueAfter({ failures, replaced, isStale }: SyncOutcome): Requeue | undefined {
    const texts = failures.map(describeFailure);
    const refusals = texts.filter((text) => !logged.includes(text));
    if (refusals.length > 0) log.warn({ refusals }, "API server refused objects; retrying");
    logged = texts;
    if (isStale) return recheck;
    if (failures.length > 0) return retryRefused;
    return replaced.length > 0 ? retryReplaced : undefined;
  }
}

/** Why pods are refused shows in events, which wake nobody. */
function ask({ afterMs }: PodRefusals): Requeue | undefined {
  return afterMs === undefined ? undefined : { afterMs };
}

function withFailures(outcome: SyncOutcome, more: readonly SyncFailure[]): SyncOutcome {
  return { ...outcome, failures: [...outcome.failures, ...more] };
}

/** Removes the finalizer of upstream's operator. Returns the failure if the API server refuses it. */
async function removeUpstreamFinalizer(
  deps: OperatorConfigDeps,
  config: SriovOperatorConfig | undefined,
  signal: AbortSignal,
): Promise<readonly SyncFailure[]> {
  if (config === undefined) return [];
  const { kind, metadata } = config;
  try {
    await deps.removeFinalizer(metadata, signal);
    return [];
  } catch (error) {
    if (!isKubeError(error) || isKubeError(error, "Conflict", "ConnectionLost")) throw error;
    return [{ kind, name: metadata.name, error }];
  }
}

function render(deps: OperatorConfigDeps, configs: OperatorConfigs): RenderedComponents {
  const rendered = renderComponents(configs, { ...deps.settings(), injectorConfig: injectorConfigIn(deps) });
  const owner = deps.owner();
  if (owner === undefined) return rendered;
  const components = rendered.components.map((component) => {
    return { ...component, objects: component.objects.map((manifest) => ownedBy(owner, manifest)) };
  });
  return { ...rendered, components };
}

/** What users have added to the injector's configuration stays: the injector reads no other file. */
function injectorConfigIn({ objects }: OperatorConfigDeps): string | undefined {
  const item = objects.inventory.find(({ type, name }) => type.kind === "ConfigMap" && name === injectorConfigName);
  return item && objects.seen(item)?.injectorConfig;
}

/** Problems of the components for AF_XDP are in the conditions of the AfxdpOperatorConfig. */
function ofSriov(rendered: RenderedComponents): RenderedComponents {
  return { ...rendered, problems: rendered.problems.filter(({ component }) => !isOfAfxdp(component)) };
}

/** Reports whether the component is for AF_XDP. */
export function isOfAfxdp(component: string): boolean {
  return Object.values<string>(afxdpComponents).includes(component);
}

/**
 * createServiceWatch finds out whether the service ovn-offload, which the chart deploys only if asked to, answers each entry of
 * spec.ovnHardwareOffload with the condition HardwareOffload. A reason that is stored needs no second minute after a restart.
 */
function createServiceWatch(elapsedMs: () => number) {
  let since: { readonly uid: string; readonly atMs: number } | undefined;
  return function unservedOf({ metadata, spec, status }: SriovOperatorConfig): Unserved | undefined {
    const { uid = "" } = metadata;
    const conditions = status?.conditions ?? [];
    const isWanted = (spec?.ovnHardwareOffload ?? []).length > 0;
    if (!isWanted || conditions.some(({ type }) => type === conditionTypes.hardwareOffload)) {
      since = undefined;
      return undefined;
    }
    const nowMs = elapsedMs();
    if (since?.uid !== uid) since = { uid, atMs: nowMs };
    const isReported = conditions.some(({ reason }) => reason === operatorConfigReasons.offloadServiceMissing);
    return { message: unservedText, isLate: isReported || nowMs - since.atMs >= serviceMs };
  };
}

/** Time in which the service reports about a new entry. Its replicas may have to start first. */
const serviceMs = 60_000;

const unservedText =
  "spec.ovnHardwareOffload: has no effect, because the service ovn-offload has not reported about it: set the chart's value " +
  "ovnOffload.enabled to true, or look at the pods of the service";

function isAnyMissing({ objects }: OperatorConfigDeps, { components }: RenderedComponents): boolean {
  const wanted = components.flatMap((component) => component.objects);
  return wanted.some((manifest) => objects.seen(objects.itemOf(manifest)) === undefined);
}

/** Returns when to write again, if nothing else happens. */
async function writeStatus(
  { writer, now, recordTransition, recordContest }: OperatorConfigDeps,
  config: SriovOperatorConfig,
  summary: ConditionSummary,
  signal: AbortSignal,
): Promise<Requeue | undefined> {
  const { name, generation = 0 } = config.metadata;
  const conditions = conditionsFor(summary, config.status?.conditions ?? [], generation, now());
  const status = { conditions, observedGeneration: generation };
  const result = await writer.applyStatus({ metadata: { name }, status }, signal);
  if (result === "written") recordTransition(config, summary);
  return recordContest(config, writer.statusInterference(config));
}

/** Objects in a namespace belong to a config, which cannot own cluster-scoped objects. */
function ownedBy(owner: OwnerReference, manifest: Manifest): Manifest {
  const { metadata } = manifest;
  if (metadata.namespace !== undefined) return manifest;
  return { ...manifest, metadata: { ...metadata, ownerReferences: [owner] } };
}
