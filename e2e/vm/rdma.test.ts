// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the RDMA mode of a node on a real kernel, with a software RDMA device (rdma_rxe) on a port of the igb. The lab has no
 * InfiniBand and no RDMA on VFs, so GUIDs are tested on the fake kernel only.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { NodeLog, TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const path = "/etc/modprobe.d/sriov_network_operator_modules_config.conf";
const limitMs = 1_500_000;
let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  watched = await startWatchedNode();
  ({ testCluster, news, node } = watched);
  await inGuest("modprobe rdma_rxe && rdma link add rxe0 type rxe netdev enp1s0f1");
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

async function inGuest(command: string): Promise<string> {
  const { code, stdout, stderr } = await node.guest.exec(command, { timeoutMs: 120_000 });
  expect({ command, code, stderr }).toMatchObject({ command, code: 0 });
  return stdout.trim();
}

async function ask(rdmaMode: "shared" | "exclusive"): Promise<void> {
  await testCluster.kubectl(["apply", "-f", "-"], {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkPoolConfig",
    metadata: { name: "rdma" },
    spec: { nodeSelector: {}, rdmaMode },
  });
}

async function askNothing(): Promise<void> {
  await testCluster.kubectl(["delete", "sriovnetworkpoolconfig", "rdma", "--ignore-not-found"]);
}

/** Waits for a status of the node. */
async function stateIs(what: string, check: (status: SriovNetworkNodeStateStatus) => boolean): Promise<void> {
  const found = () => {
    const status = news.states.get("vm")?.status;
    return status !== undefined && check(status);
  };
  await eventually(what, found, { withinMs: 400_000 });
}

/** The mode as iproute2 reports it, and the option of the module. */
async function modes() {
  const system = await inGuest("rdma system show");
  const option = await inGuest(`grep -v '^#' ${path} 2>/dev/null || true`);
  return { mode: /netns (\w+)/.exec(system)?.[1], option };
}

const exclusive = { mode: "exclusive", option: "options ib_core netns_mode=0" };
const shared = { mode: "shared", option: "options ib_core netns_mode=1" };

describe("the RDMA mode on a real kernel", () => {
  it(
    "is changed at run time, kept for the next load of ib_core, and kept without a pool",
    async () => {
      const daemon = node.startDaemon();
      expect(await modes()).toEqual({ mode: "shared", option: "" });
      await ask("exclusive");
      await stateIs("exclusive", ({ system }) => system?.rdmaMode === "exclusive");
      await stateIs("a success", ({ syncStatus }) => syncStatus === "Succeeded");
      expect(await modes()).toEqual(exclusive);
      expect(await inGuest(`head -1 ${path}`)).toMatch(/^# Written by Switchyard /);

      await inGuest("rdma link delete rxe0; modprobe -r rdma_rxe ib_core; modprobe ib_core");
      expect(await modes()).toEqual(exclusive); // read by modprobe
      await inGuest("modprobe rdma_rxe && rdma link add rxe0 type rxe netdev enp1s0f1");

      await askNothing();
      await stateIs("no option", ({ system }) => system?.persistentRdmaMode === undefined);
      expect(await modes()).toEqual({ mode: "exclusive", option: "" });
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
    },
    limitMs,
  );

  it(
    "is refused by the kernel while a network namespace exists, which is reported, and the node asks for a reboot",
    async () => {
      const daemon = node.startDaemon();
      await inGuest("ip netns add pod");
      await ask("shared");
      await stateIs("a refusal", ({ system }) => system?.refusedRdmaMode === "shared");
      const request = () => news.states.get("vm")?.metadata.annotations?.["sriovnetwork.openshift.io/desired-state"];
      await eventually("a request", () => request() === "Reboot_Required", { withinMs: 400_000 });
      daemon.kill("SIGKILL");
      await daemon.exitCode;
      expect(await modes()).toEqual({ ...shared, mode: "exclusive" });

      // As after a reboot: ib_core is loaded again, /run is empty, and no reboot was recorded.
      await inGuest("ip netns delete pod; rdma link delete rxe0; modprobe -r rdma_rxe ib_core; modprobe ib_core");
      await inGuest("rm -rf /run/switchyard-rdma /etc/sriov-operator/reboot.json");
      await inGuest("modprobe rdma_rxe && rdma link add rxe0 type rxe netdev enp1s0f1");
      expect(await modes()).toEqual(shared);
      const next = node.startDaemon();
      await stateIs("shared", ({ system, syncStatus }) => system?.rdmaMode === "shared" && syncStatus === "Succeeded");
      await eventually("no request", () => request() === "Idle", { withinMs: 400_000 });
      await askNothing();
      await stateIs("no option", ({ system }) => system?.persistentRdmaMode === undefined);
      next.kill("SIGTERM");
      expect(await next.exitCode).toBe(0);
    },
    limitMs,
  );

  it(
    "adopts and removes the file of the Go operator, and leaves any other file alone",
    async () => {
      await inGuest(`echo 'options ib_core netns_mode=1' > ${path}`);
      const before = await inGuest(`stat -c %Y.%i ${path}`);
      await ask("shared");
      const daemon = node.startDaemon();
      await stateIs(
        "adopted",
        ({ system, syncStatus }) => [system?.persistentRdmaMode, syncStatus].join() === "shared,Succeeded",
      );
      expect(await inGuest(`stat -c %Y.%i ${path}`)).toBe(before);
      await askNothing();
      await stateIs("no option", ({ system }) => system?.persistentRdmaMode === undefined);
      expect((await modes()).option).toBe("");

      const foreign = "options ib_core netns_mode=1 send_queue_size=64";
      await inGuest(`echo '${foreign}' > ${path}`);
      await ask("exclusive");
      await stateIs("a problem", ({ lastSyncError }) =>
        (lastSyncError ?? "").includes("has content that Switchyard did not write"),
      );
      expect(await modes()).toEqual({ mode: "exclusive", option: foreign });
      await askNothing();
      await stateIs("a success", ({ syncStatus }) => syncStatus === "Succeeded");
      expect((await modes()).option).toBe(foreign);
      await inGuest(`rm ${path}`);
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
    },
    limitMs,
  );

  it(
    "converges after a SIGKILL between the file and the kernel",
    async () => {
      const first = node.startDaemon();
      const killed = inGuest(`until [ -e ${path} ]; do :; done; pkill -KILL -f "[m]ain.mjs --kubeconfig"; echo killed`);
      await ask("shared");
      expect(await killed).toBe("killed");
      await first.exitCode;
      const second = node.startDaemon();
      await eventually("the second daemon works", () => second.log().includes("started"), { withinMs: 400_000 });
      await stateIs("shared", ({ system, syncStatus }) => system?.rdmaMode === "shared" && syncStatus === "Succeeded");
      expect(await modes()).toEqual(shared);
      second.kill("SIGTERM");
      expect(await second.exitCode).toBe(0);
    },
    limitMs,
  );
});
