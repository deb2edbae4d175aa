// SPDX-License-Identifier: Apache-2.0
/**
 * Turns the SriovOperatorConfig "default" into running components, and says on it how far they are (sriov-operator.md A.6,
 * H). Without it nothing is deployed; any other one is told that it does nothing.
 */
import { operatorConfigName, type ObjectMeta, type OwnerReference, type SriovOperatorConfig } from "@switchyard/api";
import { isKubeError, type Cache, type Reconcile, type Requeue, type Writer } from "@switchyard/kube";
import { renderComponents, type ComponentSettings, type Manifest, type RenderedComponents } from "@switchyard/render";
import { conditionsFor, type ConditionSummary } from "../status/condition-summary.ts";
import type { RecordTransition } from "../status/transition-events.ts";
import { describeFailure, operatorConfigSummary, unusedConfigSummary } from "./operator-config-summary.ts";
import { removeUnowned, syncComponents, type SyncDeps, type SyncFailure, type SyncOutcome } from "./sync-components.ts";

export interface OperatorConfigDeps extends SyncDeps {
  readonly configs: Cache<SriovOperatorConfig>;
  /** As the cluster is now. */
  readonly settings: () => ComponentSettings;
  /** Owns what is outside of namespaces; undefined: nobody does. */
  readonly owner: () => OwnerReference | undefined;
  readonly writer: Writer<SriovOperatorConfig>;
  /** Whether this very config is there right now, and stays. Rejects with KubeError. */
  readonly configExists: (config: SriovOperatorConfig, signal: AbortSignal) => Promise<boolean>;
  /** Takes off what upstream's operator would have taken off; sends nothing where it is not. */
  readonly removeFinalizer: (metadata: ObjectMeta, signal: AbortSignal) => Promise<void>;
  readonly recordTransition: RecordTransition;
  readonly now: () => Date;
}

/** Whoever changed what was looked at has told the caches, too. */
const recheckSoon = { afterMs: 500 };

/** What was refused is tried again then, and whenever something changes. */
const retryRefused = { afterMs: 5_000 };

export function createOperatorConfigReconciler(deps: OperatorConfigDeps): Reconcile {
  const { configs, writer, log, now } = deps;
  /** Of the last time. */
  let refusals: readonly string[] = [];

  return async function reconcile(name, signal) {
    const config = configs.get(name);
    const isPresent = config !== undefined && config.metadata.deletionTimestamp === undefined;
    if (name !== operatorConfigName) {
      const failures = await release(config, signal);
      if (isPresent) await tell(config, unusedConfigSummary, signal);
      return failures.length === 0 ? undefined : retryRefused;
    }
    if (!isPresent) return requeueAfter(await withRelease(config, await removeUnowned(deps, signal), signal));

    const rendered = render(config);
    // What is missing may just have been collected with its config, of whose end the cache has not heard yet.
    if (isMissingSome(rendered) && !(await deps.configExists(config, signal))) return recheckSoon;
    const outcome = await withRelease(config, await syncComponents(deps, rendered.components, signal), signal);
    await tell(config, operatorConfigSummary(rendered, outcome), signal);
    return requeueAfter(outcome);
  };

  async function withRelease(
    config: SriovOperatorConfig | undefined,
    outcome: SyncOutcome,
    signal: AbortSignal,
  ): Promise<SyncOutcome> {
    return { ...outcome, failures: [...outcome.failures, ...(await release(config, signal))] };
  }

  /**
   * Takes off upstream's finalizer. After all else: where upstream left its webhook registered and not serving, this is
   * refused until the registration is as we want it (M-50).
   */
  async function release(
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

  function requeueAfter({ failures, isStale }: SyncOutcome): Requeue | undefined {
    const texts = failures.map(describeFailure);
    const news = texts.filter((text) => !refusals.includes(text));
    if (news.length > 0) log.warn({ refusals: news }, "API server refused objects; retrying");
    refusals = texts;
    if (isStale) return recheckSoon;
    return failures.length === 0 ? undefined : retryRefused;
  }

  function render(config: SriovOperatorConfig): RenderedComponents {
    const rendered = renderComponents(config, deps.settings());
    const owner = deps.owner();
    if (owner === undefined) return rendered;
    const components = rendered.components.map((component) => {
      return { ...component, objects: component.objects.map((manifest) => ownedBy(owner, manifest)) };
    });
    return { ...rendered, components };
  }

  function isMissingSome({ components }: RenderedComponents): boolean {
    const { objects } = deps;
    const wanted = components.flatMap((component) => component.objects);
    return wanted.some((manifest) => objects.seen(objects.itemOf(manifest)) === undefined);
  }

  async function tell(config: SriovOperatorConfig, summary: ConditionSummary, signal: AbortSignal): Promise<void> {
    const { name, generation = 0 } = config.metadata;
    const conditions = conditionsFor(summary, config.status?.conditions ?? [], generation, now());
    const result = await writer.applyStatus(
      { metadata: { name }, status: { conditions, observedGeneration: generation } },
      signal,
    );
    if (result === "written") deps.recordTransition(config, summary);
  }
}

function ownedBy(owner: OwnerReference, manifest: Manifest): Manifest {
  const { metadata } = manifest;
  if (metadata.namespace !== undefined) return manifest;
  return { ...manifest, metadata: { ...metadata, ownerReferences: [owner] } };
}
