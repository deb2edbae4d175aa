// SPDX-License-Identifier: Apache-2.0
/**
 * createConfigMapReconciler writes upstream's ConfigMap, for tools that read it: the device plugin's configuration of
 * each node under the node's name (sriov-operator.md C). Switchyard's device plugins get theirs from the state of their
 * node. The ConfigMap grows with the fleet, and the API server accepts at most 1 MiB (sriov-operator.md M-8). A larger
 * one is not sent, and a condition on the SriovOperatorConfig reports it, as it reports settings that the configuration
 * cannot express (sriov-operator.md M-43).
 *
 * A ConfigMap that cannot be written keeps its old content. If it were deleted, no device plugin could start, not even
 * on nodes for which the content is right.
 */
import {
  conditionTypes,
  devicePluginConfigMapReasons as reasons,
  operatorConfigName,
  type Node,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { equalJson, isKubeError, type Cache, type Reconcile, type Writer } from "@switchyard/kube";
import { isInNodeSet, policiesSelecting, type Rules, type SupportedNic } from "@switchyard/policy";
import {
  devicePluginConfigMap,
  formatDevicePluginConfig,
  policyDevicePluginConfig,
  withoutManagementVf,
  type DevicePluginProblem,
  type NicModel,
  type PolicyDevicePluginSources,
} from "@switchyard/render";
import { configOwner } from "../facts/config-exists.ts";
import type { LiveRules } from "../facts/live-rules.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { createConfigCondition, type ConfigCondition } from "../reports/config-condition.ts";
import { configMapName, type ConfigMap } from "../facts/config-map-watches.ts";

export interface ConfigMapDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<CachedNodeState>;
  readonly operatorConfigs: Cache<SriovOperatorConfig>;
  readonly rules: LiveRules;
  readonly namespace: string;
  /** Value of --write-configmap. If false, the condition is removed. */
  readonly isWanted: boolean;
  readonly writer: Pick<Writer<ConfigMap>, "apply">;
  readonly statusWriter: Pick<Writer<SriovOperatorConfig>, "applyStatus">;
  readonly now: () => Date;
}

/** The API server's limit for the values of a ConfigMap, without their keys. */
const limitBytes = 1024 * 1024;

/** Most problems in the message. */
const maxProblems = 3;

/**
 * The text of a node and its sources. A text is reused while its sources are equal, as usually only one node changes.
 */
interface NodeText {
  readonly sources: PolicyDevicePluginSources;
  readonly text: string;
  readonly problems: readonly DevicePluginProblem[];
}

export function createConfigMapReconciler(deps: ConfigMapDeps): Reconcile {
  const { nodes, states, operatorConfigs, rules, namespace } = deps;
  const setConfigCondition = createConfigCondition({
    type: conditionTypes.devicePluginConfigMap,
    writer: deps.statusWriter,
    now: deps.now,
  });
  let rendered: ReadonlyMap<string, NodeText> = new Map();

  return async function reconcile(_key, signal) {
    const config = operatorConfigs.get(operatorConfigName);
    const current = rules();
    if (config === undefined || current === undefined) return undefined;
    if (!deps.isWanted) {
      await setConfigCondition(config, undefined, signal);
      return undefined;
    }
    const { data, problems } = render(current);
    const bytes = Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (bytes > limitBytes) {
      const size = `${bytes} bytes for ${Object.keys(data).length} nodes, more than the limit of ${limitBytes} bytes`;
      const message = `ConfigMap ${configMapName} would have ${size}; it is not updated and is out of date`;
      await setConfigCondition(config, { status: "False", reason: reasons.tooLarge, message }, signal);
      return undefined;
    }
    try {
      await deps.writer.apply(
        { metadata: { name: configMapName, ownerReferences: [configOwner(config)] }, data },
        signal,
      );
    } catch (error) {
      if (isKubeError(error) && !signal.aborted) {
        await setConfigCondition(config, { status: "False", reason: reasons.refused, message: error.message }, signal);
      }
      throw error;
    }
    await setConfigCondition(config, conditionFor(problems, Object.keys(data).length), signal);
    return undefined;
  };

  /** Problems of one node do not affect the others (sriov-operator.md M-7). */
  function render(current: Rules) {
    const nics = modelsOf(current.nics.known);
    const texts = new Map<string, NodeText>();
    for (const node of nodes.list()) {
      if (!isInNodeSet(node, current)) continue;
      const { name } = node.metadata;
      const interfaces = states.get(name)?.interfaces ?? [];
      const policies = withoutManagementVf(policiesSelecting(node, current), { node, interfaces });
      texts.set(name, textOf(rendered.get(name), { policies, interfaces, nics }));
    }
    rendered = texts;
    const byNode = new Map([...texts].map(([node, { text }]) => [node, text]));
    const problems = [...texts].flatMap(([node, one]) => one.problems.map((problem) => ({ ...problem, node })));
    return { data: devicePluginConfigMap(namespace, byNode).data, problems };
  }
}

/** The models of each NIC list. The same list gives the same array, so that texts are reused. */
const models = new WeakMap<readonly SupportedNic[], readonly NicModel[]>();

function modelsOf(known: readonly SupportedNic[]): readonly NicModel[] {
  const found = models.get(known) ?? known.map(({ vendor, pf, vf }) => ({ vendor, pfDevice: pf, vfDevice: vf }));
  models.set(known, found);
  return found;
}

/** Returns the previous text if its sources are equal. */
function textOf(before: NodeText | undefined, sources: PolicyDevicePluginSources): NodeText {
  if (before !== undefined && equalJson(before.sources, sources)) return before;
  const { config, problems } = policyDevicePluginConfig(sources);
  return { sources, text: formatDevicePluginConfig(config), problems };
}

interface NodeProblem extends DevicePluginProblem {
  readonly node: string;
}

function conditionFor(problems: readonly NodeProblem[], nodeCount: number): ConfigCondition {
  if (problems.length === 0)
    return { status: "True", reason: reasons.written, message: `up to date for ${nodeCount} nodes` };
  // The same problem on several nodes is one problem.
  const byText = new Map<string, string[]>();
  for (const { node, resourceName, message } of problems) {
    const text = `${resourceName}: ${message}`;
    byText.set(text, [...(byText.get(text) ?? []), node]);
  }
  const texts = [...byText].map(([text, [first = "", ...more]]) => {
    return `${text} (${first}${more.length > 0 ? ` and ${more.length} more` : ""})`;
  });
  const more = texts.length > maxProblems ? `; ${texts.length - maxProblems} more` : "";
  return { status: "False", reason: reasons.notPossible, message: texts.slice(0, maxProblems).join("; ") + more };
}
