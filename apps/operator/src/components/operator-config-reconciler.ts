// SPDX-License-Identifier: Apache-2.0
/**
 * Turns the SriovOperatorConfig "default" into running components, and says on it how far they are (sriov-operator.md A.6,
 * H). Without it nothing is deployed; any other one is told that it does nothing.
 */
import { operatorConfigName, type ObjectMeta, type OwnerReference, type SriovOperatorConfig } from "@switchyard/api";
import { isKubeError, type Cache, type Reconcile, type Requeue, type Writer } from "@switchyard/kube";
import { renderComponents, type ComponentSettings, type Manifest, type RenderedComponents } from "@switchyard/render";
import { conditionsFor, type Judgement } from "../status/judgement.ts";
import type { TellTransition } from "../status/transition-events.ts";
import { describeFailure, judgeOperatorConfig, notHonoured } from "./judge-operator-config.ts";
import { removeUnowned, syncComponents, type SyncDeps, type SyncFailure, type SyncOutcome } from "./sync-components.ts";

export interface OperatorConfigDeps extends SyncDeps {
  readonly configs: Cache<SriovOperatorConfig>;
  /** As the cluster is now. */
  readonly settings: () => ComponentSettings;
  /** Owns what is outside of namespaces; undefined: nobody does. */
  readonly owner: () => OwnerReference | undefined;
  readonly writer: Writer<SriovOperatorConfig>;
  /** Whether this very config is there right now, and stays. Rejects with KubeError. */
  readonly isStaying: (config: SriovOperatorConfig, signal: AbortSignal) => Promise<boolean>;
  /** Takes off what upstream's operator would have taken off; sends nothing where it is not. */
  readonly removeFinalizer: (metadata: ObjectMeta, signal: AbortSignal) => Promise<void>;
  readonly tellTransition: TellTransition;
  readonly now: () => Date;
}

/** Whoever changed what was looked at has told the caches, too. */
const lookAgain = { afterMs: 500 };

/** What was refused is tried again then, and whenever something changes. */
const tryAgain = { afterMs: 5_000 };

export function createOperatorConfigReconciler(deps: OperatorConfigDeps): Reconcile {
  const { configs, writer, log, now } = deps;
  /** Of the last time. */
  let refusals: readonly string[] = [];

  return async function reconcile(name, signal) {
    const config = configs.get(name);
    const isStaying = config !== undefined && config.metadata.deletionTimestamp === undefined;
    if (name !== operatorConfigName) {
      const failures = await release(config, signal);
      if (isStaying) await tell(config, notHonoured, signal);
      return failures.length === 0 ? undefined : tryAgain;
    }
    if (!isStaying) return comeBack(await withRelease(config, await removeUnowned(deps, signal), signal));

    const rendered = render(config);
    // What is missing may just have been collected with its config, of whose end the cache has not heard yet.
    if (isMissingSome(rendered) && !(await deps.isStaying(config, signal))) return lookAgain;
    const outcome = await withRelease(config, await syncComponents(deps, rendered.components, signal), signal);
    await tell(config, judgeOperatorConfig(rendered, outcome), signal);
    return comeBack(outcome);
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

  function comeBack({ failures, isStale }: SyncOutcome): Requeue | undefined {
    const texts = failures.map(describeFailure);
    const news = texts.filter((text) => !refusals.includes(text));
    if (news.length > 0) log.warn({ refusals: news }, "API server refused objects; retrying");
    refusals = texts;
    if (isStale) return lookAgain;
    return failures.length === 0 ? undefined : tryAgain;
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

  async function tell(config: SriovOperatorConfig, judgement: Judgement, signal: AbortSignal): Promise<void> {
    const { name, generation = 0 } = config.metadata;
    const conditions = conditionsFor(judgement, config.status?.conditions ?? [], generation, now());
    const result = await writer.applyStatus(
      { metadata: { name }, status: { conditions, observedGeneration: generation } },
      signal,
    );
    if (result === "written") deps.tellTransition(config, judgement);
  }
}

function ownedBy(owner: OwnerReference, manifest: Manifest): Manifest {
  const { metadata } = manifest;
  if (metadata.namespace !== undefined) return manifest;
  return { ...manifest, metadata: { ...metadata, ownerReferences: [owner] } };
}
