// SPDX-License-Identifier: Apache-2.0
/**
 * describeWalk declares the walk between upstream's operator and Switchyard by one version of Helm: there, back, there, back, and
 * there again. The API server's audit log is the judge of what the hand-overs have done. Without the sources of upstream's
 * operator, the tests are skipped and say so.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { nodes, sriovNetworkNodeStates, sriovOperatorConfigs } from "@switchyard/api";
import { missingUpstreamOperator, upstreamOperator, type UpstreamOperator } from "@switchyard/go-programs";
import { componentKinds } from "@switchyard/render";
import { eventually, isWrite, type AuditEvent } from "@switchyard/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldAt } from "../src/api/plain-api.ts";
import { disposeOf } from "../src/dispose-of.ts";
import { switchyardChart } from "../src/helm/chart-cluster.ts";
import { prepareHelm, type Helm, type HelmVersion } from "../src/helm/helm.ts";
import { namespace } from "@switchyard/test-cluster";
import { changesOf } from "../upgrade/upstream-host.ts";
import { allowEviction, release, startGoCluster, type GoCluster } from "./go-cluster.ts";
import { handshake } from "./go-daemon.ts";
import { readNads, readOddObjects } from "./go-networks.ts";
import { goNodes } from "./go-nodes.ts";
import { writePolicies, type PolicyWriter } from "./policy-writer.ts";

/** Which Helm does what. */
interface Walk {
  readonly installedBy: HelmVersion;
  /** The Helm of all hand-overs. */
  readonly version: HelmVersion;
}

const { DaemonSet } = componentKinds;
const within = { withinMs: 120_000 };
const waiting = ["--wait", "--timeout", "300s"];
/** Nodes on which nothing is left to do when the first hand-over begins. */
const settled = goNodes.filter(({ answer }) => answer === "Idle");
const interrupted = goNodes.filter(({ answer }) => answer !== "Idle");

export function describeWalk({ installedBy, version }: Walk): void {
  jest.setTimeout(900_000);
  const missing = missingUpstreamOperator();
  if (missing !== undefined) console.error(`SKIPPED: ${missing}`);
  const name = `the walk by ${version}, after an installation by ${installedBy}`;

  (missing === undefined ? describe : describe.skip)(missing === undefined ? name : `${name} (${missing})`, () => {
    let go: UpstreamOperator;
    let place: GoCluster;
    let helm: Helm;
    let writer: PolicyWriter;
    let nads: Readonly<Record<string, unknown>>;
    let odd: readonly unknown[];
    let bridges: unknown;
    let uids: Readonly<Record<string, string>>;
    /** Number of writes to each kernel before the hand-over. */
    const writes = new Map<string, number>();
    let since: string;

    beforeAll(async () => {
      go = await upstreamOperator();
      place = await startGoCluster(installedBy, go);
      const { cluster, directory } = place.testCluster;
      helm = await prepareHelm(version, {
        kubeconfig: cluster.kubeconfig,
        namespace,
        directory: join(directory, "walk"),
      });
      nads = await readNads(place.testCluster);
      odd = await readOddObjects(place.testCluster);
      bridges = readBridges();
      uids = await daemonSetUids();
      writer = place.testCluster.use(writePolicies(place.testCluster));
    }, 1_800_000);

    afterAll(async () => {
      await keepPods();
      await disposeOf(place);
    });

    /** Leaves a list of all workloads beside the logs. */
    async function keepPods(): Promise<void> {
      const directory = process.env["SWITCHYARD_TEST_LOGS"];
      if (directory === undefined) return;
      const list = await place.testCluster.kubectl(["get", "daemonsets,deployments,pods,nodes", "-o", "yaml"]);
      await writeFile(join(directory, "workloads.log"), list);
    }

    /** Remembers the time and the writes to the kernels. */
    function begin(): void {
      since = new Date().toISOString();
      for (const [name, { kernel }] of place.workers) writes.set(name, kernel.writes.length);
    }

    async function toSwitchyard(): Promise<void> {
      begin();
      await helm.run(["upgrade", release, switchyardChart, ...waiting]);
    }

    /** The command of docs/guide/upgrade.md. */
    async function toUpstream(): Promise<void> {
      begin();
      const server = version.startsWith("helm4") ? ["--server-side=true", "--force-conflicts"] : [];
      const args = ["upgrade", release, go.chart, "--take-ownership", "--reset-values", ...server, ...waiting];
      await helm.run(args, place.values);
    }

    async function daemonSetUids(): Promise<Readonly<Record<string, string>>> {
      const text = await place.testCluster.kubectl(["get", "daemonsets", "-o", "json"]);
      const items = fieldAt(JSON.parse(text) as unknown, "items");
      return Object.fromEntries(
        (Array.isArray(items) ? items : []).map((set: unknown) => {
          return [String(fieldAt(set, "metadata", "name")), String(fieldAt(set, "metadata", "uid"))];
        }),
      );
    }

    async function writesOf(event: (each: AuditEvent) => boolean): Promise<readonly string[]> {
      const all = await place.testCluster.audit();
      return all
        .filter((each) => isWrite(each) && each.stageTimestamp > since && event(each))
        .map(({ user, verb, requestURI, requestObject }) =>
          [user.username, verb, requestURI, JSON.stringify(requestObject)].join(" "),
        );
    }

    /** The commands of step 3 of the guide. */
    async function untilReady(): Promise<void> {
      await place.testCluster.kubectl([
        "wait",
        "--for=condition=Ready",
        "sriovoperatorconfig/default",
        "--timeout=180s",
      ]);
    }

    /** The bridges with their ports, by node. */
    function readBridges(): unknown {
      return Object.fromEntries([...place.workers].map(([name, { kernel }]) => [name, kernel.ovs.listBridges()]));
    }

    async function expectNothingLost(): Promise<void> {
      expect(await readNads(place.testCluster)).toEqual(nads);
      expect(await readOddObjects(place.testCluster)).toEqual(odd);
      expect(await daemonSetUids()).toEqual(uids);
      expect(readBridges()).toEqual(bridges);
      for (const { name } of settled) {
        const kernel = place.workers.get(name)?.kernel;
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
    }

    /** Upstream's operator registers its webhook before it serves, so only Switchyard can keep this promise. */
    function expectNoRefusal(): void {
      expect(writer.refusals(since).slice(0, 3)).toEqual([]);
    }

    async function expectAllIdle(): Promise<void> {
      for (const { name, isCordoned = false } of goNodes) {
        await eventually(
          `${name} is idle`,
          async () => {
            const state = await place.testCluster.read(sriovNetworkNodeStates, name);
            const { desired, current } = handshake(state);
            const isDone = desired === "Idle" && current === "Idle";
            return isDone && fieldAt(state, "status", "syncStatus") === "Succeeded";
          },
          within,
        );
        const node = await place.testCluster.read(nodes, name);
        expect([name, fieldAt(node, "spec", "unschedulable") === true]).toEqual([name, isCordoned]);
      }
    }

    /** Each operator's daemons run on all nodes. */
    async function untilDaemonsAre(image: RegExp): Promise<void> {
      await eventually(
        `the daemons are those of ${String(image)}`,
        async () => {
          const found = await place.testCluster.read(DaemonSet, "sriov-network-config-daemon");
          const { generation } = found.metadata;
          const counts = ["updatedNumberScheduled", "numberAvailable"].map((name) => fieldAt(found, "status", name));
          const isSeen = fieldAt(found, "status", "observedGeneration") === generation;
          const template = JSON.stringify(fieldAt(found, "spec", "template", "spec", "containers"));
          return isSeen && image.test(template) && counts.every((count) => count === goNodes.length);
        },
        within,
      );
    }

    const ours = /switchyard-config-daemon/;
    const theirs = /sriov-network-operator-config-daemon/;

    async function takeOver(): Promise<void> {
      await toSwitchyard();
      await untilReady();
      expectNoRefusal();
      await untilDaemonsAre(ours);
    }

    async function goBack(): Promise<void> {
      await toUpstream();
      await untilDaemonsAre(theirs);
    }

    async function expectRest(): Promise<void> {
      await expectAllIdle();
      await expectNothingLost();
    }

    it("takes the cluster over, and a wait for Ready that follows ends by Switchyard's word", async () => {
      await toSwitchyard();
      const config = await place.testCluster.read(sriovOperatorConfigs, "default");
      const message = fieldAt(config, "metadata", "managedFields");
      const owners = (Array.isArray(message) ? message : []).filter((entry: unknown) =>
        JSON.stringify(fieldAt(entry, "fieldsV1")).includes('"f:message"'),
      );
      expect(owners.map((entry: unknown) => fieldAt(entry, "manager"))).not.toContain("sriov-network-operator");
      await untilReady();
      expectNoRefusal();
      await untilDaemonsAre(ours);
      await expectNothingLost();
    });

    it("finishes what upstream had begun, and leaves the node of an administrator cordoned", async () => {
      const { name: blocked } = interrupted.find(({ answer }) => answer === "Draining") ?? { name: "" };
      const state = await place.testCluster.read(sriovNetworkNodeStates, blocked);
      expect(handshake(state).current).toBe("Draining");
      await allowEviction(place.testCluster);
      await expectAllIdle();
    });

    it("goes back, drains nothing, and leaves upstream's operator at work", async () => {
      await goBack();
      await expectRest();
    });

    it("takes over again", async () => {
      await takeOver();
      await expectRest();
    });

    it("goes back again, and takes over a third time", async () => {
      await goBack();
      await expectRest();
      await takeOver();
      await expectRest();
    });
  });
}
