// SPDX-License-Identifier: Apache-2.0
/**
 * Upstream's ConfigMap, for those who read it: the device plugin's configuration of every node, under the node's name
 * (sriov-operator.md C). Our own device plugins get theirs from their node's state. It grows with the fleet, and the API
 * server takes 1 MiB (M-8): what would be larger is not sent, and SriovOperatorConfig says so, as it says what the
 * configurations cannot express (M-43).
 *
 * A ConfigMap that cannot be written stays as it was: deleted, it would keep plugins from starting on all nodes, also on
 * those that it is right for.
 */
import {
  conditionTypes,
  devicePluginConfigMapReasons as reasons,
  operatorConfigName,
  type Node,
  type SriovOperatorConfig,
} from "@switchyard/api";
import {
  equalJson,
  isKubeError,
  setCondition,
  type Cache,
  type Condition,
  type Reconcile,
  type Writer,
} from "@switchyard/kube";
import { isInNodeSet, policiesSelecting, type Rules, type SupportedNic } from "@switchyard/policy";
import {
  devicePluginConfigMap,
  formatDevicePluginConfig,
  policyDevicePluginConfig,
  type DevicePluginProblem,
  type NicModel,
  type PolicyDevicePluginSources,
} from "@switchyard/render";
import type { LiveRules } from "../node-states/live-rules.ts";
import type { NodeStateFacts } from "../node-states/node-state-facts.ts";
import { configMapName, type ConfigMap } from "./config-map-watches.ts";

export interface ConfigMapDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<NodeStateFacts>;
  readonly operatorConfigs: Cache<SriovOperatorConfig>;
  readonly rules: LiveRules;
  readonly namespace: string;
  /** --write-configmap; without it, no condition of ours is left either. */
  readonly isWanted: boolean;
  readonly writer: Pick<Writer<ConfigMap>, "apply">;
  readonly statusWriter: Pick<Writer<SriovOperatorConfig>, "applyStatus">;
  readonly now: () => Date;
}

/** The API server's limit: bytes of all values, without their keys. */
const limitBytes = 1024 * 1024;

/** At most so many problems are named. */
const named = 3;

/** A condition that is not yet put among those that there are. */
type Verdict = Pick<Condition, "status" | "reason" | "message">;

/** A node's text, and what it is made of: of a thousand nodes, one has changed. */
interface NodeText {
  readonly sources: PolicyDevicePluginSources;
  readonly text: string;
  readonly problems: readonly DevicePluginProblem[];
}

export function createConfigMapReconciler(deps: ConfigMapDeps): Reconcile {
  const { nodes, states, operatorConfigs, rules, namespace } = deps;
  let known: ReadonlyMap<string, NodeText> = new Map();

  return async function reconcile(_key, signal) {
    const config = operatorConfigs.get(operatorConfigName);
    const current = rules();
    if (config === undefined || current === undefined) return undefined;
    if (!deps.isWanted) {
      await report(config, undefined, signal);
      return undefined;
    }
    const { data, problems } = render(current);
    const bytes = Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (bytes > limitBytes) {
      const size = `${bytes} bytes for ${Object.keys(data).length} nodes, more than the limit of ${limitBytes} bytes`;
      const message = `ConfigMap ${configMapName} would have ${size}; it is not updated and is out of date`;
      await report(config, { status: "False", reason: reasons.tooLarge, message }, signal);
      return undefined;
    }
    try {
      await deps.writer.apply({ metadata: { name: configMapName, ownerReferences: [ownerOf(config)] }, data }, signal);
    } catch (error) {
      if (isKubeError(error) && !signal.aborted) {
        await report(config, { status: "False", reason: reasons.refused, message: error.message }, signal);
      }
      throw error;
    }
    await report(config, judge(problems, Object.keys(data).length), signal);
    return undefined;
  };

  /** Nodes do not depend on one another: what one of them cannot have, the others have (M-7). */
  function render(current: Rules) {
    const nics = modelsOf(current.nics.known);
    const made = new Map<string, NodeText>();
    for (const node of nodes.list()) {
      if (!isInNodeSet(node, current)) continue;
      const { name } = node.metadata;
      const interfaces = states.get(name)?.interfaces ?? [];
      made.set(name, textOf(known.get(name), { policies: policiesSelecting(node, current), interfaces, nics }));
    }
    known = made;
    const texts = new Map([...made].map(([node, { text }]) => [node, text]));
    const problems = [...made].flatMap(([node, one]) => one.problems.map((problem) => ({ ...problem, node })));
    return { data: devicePluginConfigMap(namespace, texts).data, problems };
  }

  async function report(config: SriovOperatorConfig, verdict: Verdict | undefined, signal: AbortSignal): Promise<void> {
    const type = conditionTypes.devicePluginConfigMap;
    const own = (config.status?.conditions ?? []).filter((condition) => condition.type === type);
    if (verdict === undefined && own.length === 0) return;
    const { name, uid, generation = 0 } = config.metadata;
    const conditions =
      verdict === undefined ? [] : setCondition(own, { type, ...verdict, observedGeneration: generation }, deps.now());
    // Of this very object: an apply would make a new one if it went.
    await deps.statusWriter.applyStatus(
      { metadata: { name, ...(uid === undefined ? {} : { uid }) }, status: { conditions } },
      signal,
    );
  }
}

/** The device plugin's view of the list; the same array while the list is the same, so that texts made of it stay. */
const models = new WeakMap<readonly SupportedNic[], readonly NicModel[]>();

function modelsOf(known: readonly SupportedNic[]): readonly NicModel[] {
  const made = models.get(known) ?? known.map(({ vendor, pf, vf }) => ({ vendor, pfDevice: pf, vfDevice: vf }));
  models.set(known, made);
  return made;
}

/** The text as it was where it is made of the same. */
function textOf(before: NodeText | undefined, sources: PolicyDevicePluginSources): NodeText {
  if (before !== undefined && equalJson(before.sources, sources)) return before;
  const { config, problems } = policyDevicePluginConfig(sources);
  return { sources, text: formatDevicePluginConfig(config), problems };
}

interface NodeProblem extends DevicePluginProblem {
  readonly node: string;
}

function judge(problems: readonly NodeProblem[], nodeCount: number): Verdict {
  if (problems.length === 0)
    return { status: "True", reason: reasons.written, message: `up to date for ${nodeCount} nodes` };
  // The same on many nodes is one problem.
  const byText = new Map<string, string[]>();
  for (const { node, resourceName, message } of problems) {
    const text = `${resourceName}: ${message}`;
    byText.set(text, [...(byText.get(text) ?? []), node]);
  }
  const texts = [...byText].map(([text, [first = "", ...more]]) => {
    return `${text} (${first}${more.length > 0 ? ` and ${more.length} more` : ""})`;
  });
  const more = texts.length > named ? `; ${texts.length - named} more` : "";
  return { status: "False", reason: reasons.notPossible, message: texts.slice(0, named).join("; ") + more };
}

function ownerOf({ apiVersion, kind, metadata }: SriovOperatorConfig) {
  const { name, uid = "" } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
