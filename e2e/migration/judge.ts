// SPDX-License-Identifier: Apache-2.0
/**
 * startJudge remembers a cluster of upstream before it is handed over, and finds what a hand-over has changed that it must not change:
 * kernels, drains, bridges, NetworkAttachmentDefinitions, stored objects and DaemonSets. The API server's audit log is its witness.
 */
import { expect } from "@jest/globals";
import { nodes, sriovNetworkNodeStates } from "@switchyard/api";
import { componentKinds } from "@switchyard/render";
import { eventually, isWrite, type AuditEvent } from "@switchyard/testing";
import { fieldAt } from "../src/api/plain-api.ts";
import { changesOf } from "../upgrade/upstream-host.ts";
import type { GoCluster } from "./go-cluster.ts";
import { handshake } from "./go-daemon.ts";
import { readNads, readOddObjects } from "./go-networks.ts";
import { goNodes } from "./go-nodes.ts";

export interface Judge {
  /** Remembers the time and the writes to the kernels: a hand-over begins. Returns the time (RFC 3339). */
  begin(): string;
  /** `keepsDaemonSets` is false if the DaemonSets are created again. */
  expectNothingLost(options?: { readonly keepsDaemonSets?: boolean }): Promise<void>;
  /** Waits until all nodes are idle, and only that of the administrator is cordoned. */
  expectAllIdle(): Promise<void>;
  /** Waits until the daemons of one operator run on all nodes. */
  untilDaemonsAre(whose: "upstream's" | "Switchyard's"): Promise<void>;
}

const { DaemonSet } = componentKinds;
const within = { withinMs: 120_000 };
/** Nodes on which nothing is left to do when the first hand-over begins. */
const settled = goNodes.filter(({ answer }) => answer === "Idle");
const images = { "Switchyard's": /switchyard-config-daemon/, "upstream's": /sriov-network-operator-config-daemon/ };

export async function startJudge(place: GoCluster): Promise<Judge> {
  const { testCluster, workers } = place;
  const nads = await readNads(testCluster);
  const odd = await readOddObjects(testCluster);
  const bridges = readBridges();
  const uids = await daemonSetUids();
  /** Number of writes to each kernel before the hand-over. */
  const writes = new Map<string, number>();
  let since = "";

  /** The bridges with their ports, by node. */
  function readBridges(): unknown {
    return Object.fromEntries([...workers].map(([name, { kernel }]) => [name, kernel.ovs.listBridges()]));
  }

  async function daemonSetUids(): Promise<Readonly<Record<string, string>>> {
    const text = await testCluster.kubectl(["get", "daemonsets", "-o", "json"]);
    const items = fieldAt(JSON.parse(text) as unknown, "items");
    return Object.fromEntries(
      (Array.isArray(items) ? items : []).map((set: unknown) => {
        return [String(fieldAt(set, "metadata", "name")), String(fieldAt(set, "metadata", "uid"))];
      }),
    );
  }

  async function writesOf(event: (each: AuditEvent) => boolean): Promise<readonly string[]> {
    const all = await testCluster.audit();
    return all
      .filter((each) => isWrite(each) && each.stageTimestamp > since && event(each))
      .map(({ user, verb, requestURI, requestObject }) =>
        [user.username, verb, requestURI, JSON.stringify(requestObject)].join(" "),
      );
  }

  return {
    begin() {
      since = new Date().toISOString();
      for (const [name, { kernel }] of workers) writes.set(name, kernel.writes.length);
      return since;
    },

    async expectNothingLost({ keepsDaemonSets = true } = {}) {
      expect(await readNads(testCluster)).toEqual(nads);
      expect(await readOddObjects(testCluster)).toEqual(odd);
      if (keepsDaemonSets) expect(await daemonSetUids()).toEqual(uids);
      expect(readBridges()).toEqual(bridges);
      for (const { name } of settled) {
        const kernel = workers.get(name)?.kernel;
        // adoptBridge only marks rows of the database.
        const changes = kernel === undefined ? [] : changesOf(kernel, writes.get(name) ?? 0);
        expect([name, changes.filter((change) => !change.startsWith("ovs.adoptBridge"))]).toEqual([name, []]);
      }
      // No node was cordoned, and no drain requested, on a node that had none.
      const names = settled.map(({ name }) => name);
      const isSettled = ({ requestURI }: AuditEvent) => names.some((name) => requestURI.includes(`/${name}?`));
      const drains = await writesOf(
        (event) =>
          isSettled(event) &&
          /Drain_Required|Reboot_Required|"unschedulable":true/.test(JSON.stringify(event.requestObject)),
      );
      expect(drains).toEqual([]);
    },

    async expectAllIdle() {
      for (const { name, isCordoned = false } of goNodes) {
        await eventually(
          `${name} is idle`,
          async () => {
            const state = await testCluster.find(sriovNetworkNodeStates, name);
            if (state === undefined) return false;
            const { desired, current } = handshake(state);
            const isDone = desired === "Idle" && current === "Idle";
            return isDone && fieldAt(state, "status", "syncStatus") === "Succeeded";
          },
          within,
        );
        const node = await testCluster.read(nodes, name);
        expect([name, fieldAt(node, "spec", "unschedulable") === true]).toEqual([name, isCordoned]);
      }
    },

    async untilDaemonsAre(whose) {
      await eventually(
        `the daemons are ${whose}`,
        async () => {
          const found = await testCluster.find(DaemonSet, "sriov-network-config-daemon");
          if (found === undefined) return false;
          const counts = ["updatedNumberScheduled", "numberAvailable"].map((name) => fieldAt(found, "status", name));
          const isSeen = fieldAt(found, "status", "observedGeneration") === found.metadata.generation;
          const template = JSON.stringify(fieldAt(found, "spec", "template", "spec", "containers"));
          return isSeen && images[whose].test(template) && counts.every((count) => count === goNodes.length);
        },
        within,
      );
    },
  };
}
