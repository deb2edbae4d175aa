// SPDX-License-Identifier: Apache-2.0
/**
 * createMassLoss holds the reset of nodes for a minute if most of the configured nodes lose all their policies at once. A person may
 * have deleted the policies, or a GitOps controller, a restore or a script by mistake: the API server shows no difference. So the
 * reset is announced, and a restore within the minute costs no pod its VFs. An annotation of the configuration confirms the reset at once.
 *
 * Policies or labels of nodes can also be lost one after the other. So nodes that lost everything in the last minute count with the
 * others, and the second half of them is held. Only losses of at least three nodes count. A node that lost its policies stays held until
 * the end of the minute, also if policies of other nodes are restored first.
 * Usage: `const massLoss = createMassLoss({ census, confirmed, config, ...more }); const hold = massLoss("worker-1", true);`.
 */
import { annotations, operatorConfigName, resetHeldReasons, type Node, type ResourceType } from "@switchyard/api";
import { hasLabels, labelsOf, type Labels } from "@switchyard/policy";
import type { ResetHold } from "./reset-hold.ts";

/** Number of nodes whose spec gives something to them, and how many of them no policy selects. */
export interface Census {
  readonly configured: number;
  readonly lost: number;
}

/** Returns why the node keeps its spec for now. Must be called at each reconciliation of a node that is not new. */
export type MassLoss = (node: string, losesAll: boolean) => ResetHold | undefined;

export interface MassLossDeps {
  /** Counts without these nodes, whose loss is known already. */
  readonly census: (except: Pick<ReadonlySet<string>, "has">) => Census;
  /** Value of annotations.resetConfirmed on the configuration. */
  readonly confirmed: () => string | undefined;
  /** Kind of the configuration, and its namespace. */
  readonly config: Pick<ResourceType, "plural" | "group">;
  readonly namespace: string;
  /** The wall clock, which messages show. */
  readonly nowMs: () => number;
  /** Measures the hold: the wall clock can be set meanwhile. */
  readonly elapsedMs: () => number;
}

/** A loss of policies, and until when the nodes that it concerns are held. */
interface Loss {
  /** By `elapsedMs`. */
  readonly endsMs: number;
  /** The end in RFC 3339, which confirms the reset. */
  readonly until: string;
  readonly message: string;
}

export function createMassLoss(deps: MassLossDeps): MassLoss {
  const { census, confirmed, elapsedMs } = deps;
  const lossOf = new Map<string, Loss>();
  /** When nodes lost everything that were not held. */
  const recentMs = new Map<string, number>();
  let latest: Loss | undefined;
  /** A census with the nodes of recentMs at that time, which it leaves out. */
  let counted: (Census & { readonly untilMs: number }) | undefined;

  /** Returns the loss that goes on, or a new one if most nodes have lost their policies. */
  function currentLoss(): Loss | undefined {
    if (latest !== undefined && elapsedMs() < latest.endsMs) return latest;
    for (const [node, atMs] of recentMs) if (elapsedMs() - atMs >= holdMs) recentMs.delete(node);
    // More losses than the census has counted show that it is out of date.
    if (counted === undefined || elapsedMs() >= counted.untilMs || recentMs.size >= counted.lost) {
      const { configured, lost } = census(recentMs);
      const untilMs = elapsedMs() + countedForMs;
      counted = { configured: configured + recentMs.size, lost: lost + recentMs.size, untilMs };
    }
    if (counted.lost < leastNodes || counted.lost * 2 <= counted.configured) return undefined;
    latest = newLoss(counted, deps);
    return latest;
  }

  return function massLoss(node, losesAll) {
    if (!losesAll) {
      lossOf.delete(node);
      return undefined;
    }
    const loss = lossOf.get(node) ?? currentLoss();
    if (loss === undefined) {
      recentMs.set(node, elapsedMs());
      return undefined;
    }
    lossOf.set(node, loss);
    const afterMs = loss.endsMs - elapsedMs();
    if (afterMs <= 0 || confirmed() === loss.until) return undefined;
    return { reason: resetHeldReasons.massLoss, message: loss.message, afterMs };
  };
}

/** What countLosses reads of a cluster, for all kinds of node states. */
export interface LossSources {
  /** Names of the nodes whose spec gives something to them. */
  readonly configured: Iterable<string>;
  /** The selectors of all policies. */
  readonly selectors: readonly Labels[];
  readonly node: (name: string) => Node | undefined;
  /** Nodes that do not count. */
  readonly except?: Pick<ReadonlySet<string>, "has">;
}

/** Counts the nodes for a census. A node that has left the cluster has lost nothing. */
export function countLosses({ configured, selectors, node, except }: LossSources): Census {
  let count = 0;
  let lost = 0;
  for (const name of configured) {
    const found = node(name);
    if (found === undefined || except?.has(name) === true) continue;
    count += 1;
    if (!selectors.some((selector) => hasLabels(labelsOf(found), selector))) lost += 1;
  }
  return { configured: count, lost };
}

function newLoss({ configured, lost }: Census, { config, namespace, nowMs, elapsedMs }: MassLossDeps): Loss {
  const startMs = nowMs();
  const untilMs = Math.ceil((startMs + holdMs) / 1000) * 1000;
  const until = new Date(untilMs).toISOString().replace(".000Z", "Z");
  const message =
    `${lost} of ${configured} configured nodes lost all their policies at once; restore the policies, or wait: the nodes are ` +
    `reset at ${until}; to reset them now, run kubectl -n ${namespace} annotate --overwrite ${config.plural}.${config.group} ` +
    `${operatorConfigName} ${annotations.resetConfirmed}=${until}`;
  return { endsMs: elapsedMs() + untilMs - startMs, until, message };
}

const holdMs = 60_000;

/** Time for which the census of one node serves those that are reconciled at the same time. */
const countedForMs = 100;

const leastNodes = 3;
