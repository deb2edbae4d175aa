// SPDX-License-Identifier: Apache-2.0
/**
 * The Go operator's real config daemon on a real kernel (igb in the VM lab). What it leaves on a host is what the tests of the
 * take-over play. Switchyard's daemon and it take the host from each other without a change of a VF. Without the sources of the Go
 * operator, the tests are skipped and say so.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { annotations, type SriovNetworkNodeState } from "@switchyard/api";
import { missingUpstreamOperator, upstreamOperator } from "@switchyard/go-programs";
import { createFakeKernel, igb, pci } from "@switchyard/host/testing";
import { isRecord } from "@switchyard/kube";
import { applyPolicy, namespace, policySpec } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { GuestProcess } from "@switchyard/vm-lab";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";
import { configureAsUpstream, statusByUpstream } from "../upgrade/upstream-host.ts";

const pf = "0000:01:00.0";
const sysfs = `/sys/bus/pci/devices/${pf}`;
const within = { withinMs: 300_000 };
/** The names by which the Go daemon's library knows devices. It finds none without such a file. */
const pciIds = [
  ...["8086  Intel", "\t10c9  82576", "\t10ca  82576 VF"],
  ...["1af4  Red Hat", "C 02  Network controller", "\t00  Ethernet controller"],
].join("\\n");

const missing = missingUpstreamOperator();
if (missing !== undefined) console.error(`SKIPPED: ${missing}`);

(missing === undefined ? describe : describe.skip)(`the Go operator's daemon${missing ? ` (${missing})` : ""}`, () => {
  let watched: WatchedNode;
  let daemon: GuestProcess & { readonly log: () => string };
  /** The VFs as the Go daemon has left them. */
  let vfs: string;

  beforeAll(async () => {
    const go = await upstreamOperator();
    watched = await startWatchedNode({ udev: true, kernelArguments: ["iommu=pt"] });
    const { node, testCluster } = watched;
    await cp(go.daemon, join(node.share, "sriov-network-config-daemon"));
    await cp(join(go.directory, "bindata"), join(node.share, "bindata"), { recursive: true });
    // It needs grubby, which the guest lacks. The argument for vfio-pci is there already.
    await writeFile(join(node.share, "bindata/scripts/kargs.sh"), "echo 0\n");
    await testCluster.kubectl(["create", "configmap", "supported-nic-ids", "--from-literal=igb=8086 10c9 10ca"]);
    await watched.inGuest(
      "mkdir -p /host /usr/share/hwdata && mount --rbind / /host && ln -s /share/bindata /bindata && " +
        `printf '${pciIds}\\n' > /usr/share/hwdata/pci.ids`,
    );
    daemon = startGoDaemon();
  }, 1_800_000);

  afterAll(async () => {
    await disposeOf(watched);
  }, 60_000);

  function startGoDaemon(): typeof daemon {
    const env = `KUBECONFIG=/share/kubeconfig NAMESPACE=${namespace} NODE_NAME=vm CLUSTER_TYPE=kubernetes`;
    const started = watched.node.guest.spawn(`cd /share && exec env ${env} ./sriov-network-config-daemon start`);
    let log = "";
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (log += text));
    }
    return { ...started, log: () => log };
  }

  const readState = (): SriovNetworkNodeState | undefined => watched.news.states.get("vm");

  async function untilSucceeded(by: () => string): Promise<SriovNetworkNodeState> {
    const done = () => {
      const state = readState();
      const numVfs = state?.status?.interfaces?.find(({ pciAddress }) => pciAddress === pf)?.numVfs;
      return state?.status?.syncStatus === "Succeeded" && numVfs === 3 ? state : undefined;
    };
    return eventually("the node is configured", done, within).catch((cause: unknown) => {
      throw new Error(`the daemon's last lines:\n${by().split("\n").slice(-30).join("\n")}`, { cause });
    });
  }

  /** Identity and configuration of each VF: an interface that is created again has another index. */
  const readVfs = () =>
    watched.inGuest(
      `for n in 0 1 2; do readlink ${sysfs}/virtfn$n; basename $(readlink ${sysfs}/virtfn$n/driver); ` +
        `cat ${sysfs}/virtfn$n/net/*/ifindex ${sysfs}/virtfn$n/net/*/address ${sysfs}/virtfn$n/net/*/mtu 2>/dev/null; done`,
    );

  it("configures the VFs, and writes the record and the status that the stand-in writes", async () => {
    const wanted = { numVfs: 3, mtu: 9000, resourceName: "fast" };
    await eventually("the Go daemon reports the NIC", () => readState()?.status?.interfaces, within);
    await applyPolicy(watched.testCluster, "fast", policySpec({ pfNames: ["enp1s0f0#0-1"] }, wanted));
    const userSpace = { ...wanted, deviceType: "vfio-pci", resourceName: "dpdk" } as const;
    await applyPolicy(watched.testCluster, "dpdk", policySpec({ pfNames: ["enp1s0f0#2-2"] }, userSpace));
    const state = await untilSucceeded(() => daemon.log());
    vfs = await readVfs();
    expect(vfs.match(/igbvf|vfio-pci/g)).toEqual(["igbvf", "igbvf", "vfio-pci"]);

    const [spec] = state.spec?.interfaces ?? [];
    if (spec === undefined) throw new Error("the node state has no PF");
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    await configureAsUpstream(kernel, spec);
    const record: unknown = JSON.parse(await watched.inGuest(`cat /etc/sriov-operator/pci/${pf}`));
    expect(record).toEqual((await kernel.host().records.list()).get(pci(pf))?.spec);
    const [played] = (await statusByUpstream(kernel)).filter(({ pciAddress }) => pciAddress === pf);
    const [real] = (state.status?.interfaces ?? []).filter(({ pciAddress }) => pciAddress === pf);
    expect(fieldsOf(real)).toEqual(fieldsOf(played));
    const rules = await watched.inGuest("ls /etc/udev/rules.d");
    expect(rules.split("\n").filter((name) => name.includes(pf))).toEqual([`10-nm-disable-${pf}.rules`]);
  }, 900_000);

  it("leaves the host to Switchyard's daemon, which changes no VF", async () => {
    daemon.kill("SIGTERM");
    await daemon.exitCode;
    const own = watched.node.startDaemon();
    await eventually("Switchyard's daemon has reported", () => readState()?.status?.conditions?.length, within);
    await untilSucceeded(() => own.log());
    expect(await readVfs()).toBe(vfs);
    expect(own.log()).not.toContain("Drain_Required");
    own.kill("SIGTERM");
    expect(await own.exitCode).toBe(0);
  }, 900_000);

  it("takes the host back, requests no drain and changes no VF", async () => {
    const { metadata } = readState() ?? { metadata: undefined };
    daemon = startGoDaemon();
    await eventually("it reconciles the node", () => daemon.log().includes("new generation"), within);
    await eventually(
      "it has replaced the status",
      () => readState()?.metadata.resourceVersion !== metadata?.resourceVersion,
      within,
    );
    const state = await untilSucceeded(() => daemon.log());
    expect(state.metadata.annotations?.[annotations.desiredState]).toBe("Idle");
    expect(daemon.log()).not.toMatch(/Drain_Required|reqDrain.?:true/);
    expect(await readVfs()).toBe(vfs);
  }, 900_000);
});

/** The names of all fields, of lists those of their first item. */
function fieldsOf(value: unknown, path = ""): readonly string[] {
  if (Array.isArray(value)) return fieldsOf(value[0], `${path}[]`);
  if (!isRecord(value)) return [path];
  return Object.entries(value)
    .flatMap(([key, member]) => fieldsOf(member, `${path}.${key}`))
    .toSorted();
}
