// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { node, policy, state } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";

interface Port {
  readonly name?: string;
  readonly vendor?: string;
  readonly deviceID?: string;
  readonly driver?: string;
  readonly totalvfs?: number;
  readonly numVfs?: number;
  readonly linkType?: string;
  readonly hostUse?: readonly string[];
  readonly externallyManaged?: boolean;
  readonly bridge?: string;
  readonly cardMode?: object;
}

/** The state of a node with these ports, as its config daemon reports it. */
function nodeWith(name: string, ports: readonly Port[], labels = {}) {
  const { status, ...head } = state(name);
  const [pf] = status.interfaces;
  const interfaces = ports.map((port, at) => ({ ...pf, pciAddress: `0000:3b:00.${at}`, name: `ens1f${at}`, ...port }));
  const hostname = { "kubernetes.io/hostname": name };
  return [node(name, { ...hostname, ...labels }), { ...head, status: { ...status, interfaces } }];
}

async function suggest(cluster: readonly unknown[]) {
  const list = { apiVersion: "v1", kind: "List", items: cluster }; // as kubectl prints it
  const { code, out, err } = await runCli(["suggest", "-f", "-"], { input: [list] });
  const read = await runCli(["render", "-f", "-", "-o", "json", "--only", "SriovNetworkNodeState"], {
    input: `${out}\n---\n${cluster.map((object) => JSON.stringify(object)).join("\n---\n")}`,
  });
  const { items } = JSON.parse(read.out) as { readonly items: readonly SpecOf[] };
  const configured = items.flatMap(({ metadata, spec }) =>
    (spec.interfaces ?? []).map(({ name, numVfs }) => `${metadata.name} ${name ?? ""} ${numVfs}`),
  );
  return { code, out, err, configured };
}

interface SpecOf {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly interfaces?: readonly { readonly name?: string; readonly numVfs: number }[] };
}

const route = ["default route"];

/** Vendor, device, driver, VFs of a port and VFs that are suggested: IDs of supported cards, limits of their drivers. */
const cards: readonly (readonly [card: string, Port, numVfs: number])[] = [
  ["XXV710", { vendor: "8086", deviceID: "158a", driver: "i40e", totalvfs: 64 }, 8],
  ["XXV710 25G SFP28", { vendor: "8086", deviceID: "158b", driver: "i40e", totalvfs: 64 }, 8],
  ["X710 SFP, four ports", { vendor: "8086", deviceID: "1572", driver: "i40e", totalvfs: 32 }, 8],
  ["X710 BASE-T", { vendor: "8086", deviceID: "15ff", driver: "i40e", totalvfs: 32 }, 8],
  ["XL710 40G", { vendor: "8086", deviceID: "1583", driver: "i40e", totalvfs: 64 }, 8],
  ["X550", { vendor: "8086", deviceID: "1563", driver: "ixgbe", totalvfs: 63 }, 8],
  ["82576 with seven VFs", { vendor: "8086", deviceID: "10c9", driver: "igb", totalvfs: 7 }, 7],
  ["E810-C", { vendor: "8086", deviceID: "1592", driver: "ice", totalvfs: 128 }, 8],
  ["E810-XXVDA4", { vendor: "8086", deviceID: "1593", driver: "ice", totalvfs: 64 }, 8],
  ["E810-XXVDA2", { vendor: "8086", deviceID: "159b", driver: "ice", totalvfs: 128 }, 8],
  ["E823-C", { vendor: "8086", deviceID: "188a", driver: "ice", totalvfs: 64 }, 8],
  ["E825-C", { vendor: "8086", deviceID: "579e", driver: "ice", totalvfs: 32 }, 8],
  ["E830", { vendor: "8086", deviceID: "12d2", driver: "ice", totalvfs: 128 }, 8],
  ["ConnectX-4", { vendor: "15b3", deviceID: "1013", driver: "mlx5_core", totalvfs: 16 }, 8],
  [
    "ConnectX-4 Lx, four VFs in the firmware",
    { vendor: "15b3", deviceID: "1015", driver: "mlx5_core", totalvfs: 4 },
    4,
  ],
  ["ConnectX-5", { vendor: "15b3", deviceID: "1017", driver: "mlx5_core", totalvfs: 8 }, 8],
  ["ConnectX-5 Ex", { vendor: "15b3", deviceID: "1019", driver: "mlx5_core", totalvfs: 16 }, 8],
  ["ConnectX-6, InfiniBand", { vendor: "15b3", deviceID: "101b", driver: "mlx5_core", totalvfs: 8, linkType: "IB" }, 8],
  ["ConnectX-6 Dx", { vendor: "15b3", deviceID: "101d", driver: "mlx5_core", totalvfs: 16 }, 8],
  ["ConnectX-6 Lx", { vendor: "15b3", deviceID: "101f", driver: "mlx5_core", totalvfs: 16 }, 8],
  [
    "ConnectX-7, InfiniBand",
    { vendor: "15b3", deviceID: "1021", driver: "mlx5_core", totalvfs: 16, linkType: "IB" },
    8,
  ],
  ["ConnectX-7 without SR-IOV", { vendor: "15b3", deviceID: "1021", driver: "mlx5_core", totalvfs: 0 }, 0],
  ["BlueField-2", { vendor: "15b3", deviceID: "a2d6", driver: "mlx5_core", totalvfs: 16 }, 0],
  ["BlueField-3", { vendor: "15b3", deviceID: "a2dc", driver: "mlx5_core", totalvfs: 16 }, 0],
  ["BCM57414", { vendor: "14e4", deviceID: "16d7", driver: "bnxt_en", totalvfs: 128 }, 8],
  ["BCM75508", { vendor: "14e4", deviceID: "1750", driver: "bnxt_en", totalvfs: 64 }, 8],
  ["QL45000", { vendor: "1077", deviceID: "1654", driver: "qede", totalvfs: 96 }, 8],
  ["OCTEON 10", { vendor: "177d", deviceID: "b900", driver: "octeon_ep", totalvfs: 8 }, 8],
  ["virtio", { vendor: "1af4", deviceID: "1041", driver: "virtio_net", totalvfs: 0 }, 0],
  ["a card that is not supported", { vendor: "1425", deviceID: "6806", driver: "cxgb4", totalvfs: 16 }, 0],
];

describe("switchyard suggest", () => {
  it.each(cards)("leaves the port that the host uses alone: %s", async (_card, port, numVfs) => {
    const cluster = nodeWith("worker-1", [{ ...port, hostUse: route }, port]);
    const { out, code, configured } = await suggest(cluster);
    expect(configured).toEqual(numVfs === 0 ? [] : [`worker-1 ens1f1 ${numVfs}`]);
    expect(code).toBe(numVfs === 0 ? 1 : 0);
    if (numVfs === 0) return;
    const existing = cluster.map((object) => JSON.stringify(object)).join("\n---\n");
    const checked = await runCli(["validate", "-f", "-", "-o", "json"], { input: `${out}\n---\n${existing}` });
    expect({ code: checked.code, err: checked.err }).toEqual({ code: 0, err: "" });
    const answers = JSON.parse(checked.out) as readonly { readonly allowed: boolean; readonly kind: string }[];
    expect(answers.filter(({ allowed }) => !allowed)).toEqual([]);
    const planned = await runCli(["plan", "-f", "-", "-o", "json"], { input: `${out}\n---\n${existing}` });
    expect(planned.code).toBe(0);
    expect(planned.out).not.toMatch(/"impact": "(drain|reboot)"/);
    expect(planned.out).toContain("0000:3b:00.1");
    expect(planned.out).not.toContain("on 0000:3b:00.0");
  });

  it("gives the same port of several nodes one policy, by a label that nodes with a used port do not have", async () => {
    const free = (name: string) => nodeWith(name, [{ hostUse: route }, {}], { rack: "a" });
    const used = nodeWith("w3", [{}, { hostUse: ["port of bond bond0"] }], { rack: "b" });
    const { out, configured } = await suggest([...free("w1"), ...free("w2"), ...used]);
    expect(configured.toSorted()).toEqual(["w1 ens1f1 8", "w2 ens1f1 8", "w3 ens1f0 8"]);
    expect(out.match(/kind: SriovNetworkNodePolicy/g)).toHaveLength(2);
    expect(out).toContain("rack: a");
    expect(out).toContain("# ens1f1 (8086:158b, driver i40e) of 2 nodes (w1, w2).");
    expect(out).toContain("# Left out: ens1f1: the host uses it: port of bond bond0 (w3).");
  });

  it("names each node if no label tells them apart", async () => {
    const { out, configured } = await suggest([
      ...nodeWith("w1", [{ hostUse: route }, {}]),
      ...nodeWith("w2", [{}, { hostUse: route }]),
    ]);
    expect(configured.toSorted()).toEqual(["w1 ens1f1 8", "w2 ens1f0 8"]);
    expect(out).toContain("kubernetes.io/hostname: w1");
  });

  it.each<{ does: string; port: Port; why: string }>([
    { does: "has VFs", port: { numVfs: 4 }, why: "it has 4 VFs already" },
    { does: "another tool manages", port: { externallyManaged: true }, why: "another tool creates its VFs" },
    { does: "is a port of a bridge", port: { bridge: "br-0" }, why: "it is a port of bridge br-0" },
    { does: "has no interface", port: { name: "" }, why: "it has no network interface" },
  ])("leaves out a PF that $does, and says so", async ({ port, why }) => {
    const { code, out, configured } = await suggest(nodeWith("w1", [{ hostUse: route }, port]));
    expect([code, configured]).toEqual([1, []]);
    expect(out).toContain(why);
  });

  it("leaves out PFs that a policy selects", async () => {
    const { out, configured } = await suggest([...nodeWith("w1", [{ hostUse: route }, {}]), policy("mine")]);
    expect(out).toContain("ens1f0: policy mine selects it already");
    expect(configured.toSorted()).toEqual(["w1 ens1f0 4", "w1 ens1f1 8"]);
  });

  it("prints comments only while it is not known what the host uses, and says how to find out", async () => {
    const silent = await suggest([...nodeWith("w1", [{}, {}]), node("w2")]);
    expect([silent.code, silent.configured]).toEqual([1, []]);
    expect(silent.out).toContain("# It is not known whether the host uses the following ports");
    const unmarked = silent.out.replaceAll(/^#: /gm, "");
    const read = await runCli(["validate", "-f", "-"], { input: unmarked });
    expect(read.out).toContain("SriovNetworkNodePolicy/sriov-network-operator/sriov-ens1f0: allowed");
    expect(read.out).toContain("SriovNetwork/sriov-network-operator/sriov-ens1f1: allowed");
    expect(silent.out).toContain("feature gate manageSoftwareBridges");
    expect(silent.out).toContain("# Not examined, because nothing is reported about them: w2.");
    const config = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovOperatorConfig",
      metadata: { name: "default", namespace: "sriov-network-operator" },
      spec: { featureGates: { manageSoftwareBridges: true } },
    };
    expect((await suggest([...nodeWith("w1", [{}]), config])).configured).toEqual(["w1 ens1f0 8"]);
  });

  it("selects no node that has not reported, since it could use the same port", async () => {
    const { out } = await suggest([...nodeWith("w1", [{ hostUse: route }, {}]), node("w2")]);
    expect(out).toContain("kubernetes.io/hostname: w1");
    expect(out).not.toContain("node-role.kubernetes.io/worker");
  });

  it("prints no control characters and changes of direction that a node reports", async () => {
    const free = nodeWith("worker-1", [
      { driver: "ice\u001b]0;x\u0007\u009b31m\u202e", hostUse: [] },
      { hostUse: ["default route"] },
    ]);
    const { code, out } = await suggest(free);
    expect(code).toBe(0);
    expect(out).toContain("driver ice?]0;x??31m?)");
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  it("suggests a pool for many nodes", async () => {
    const nodes = Array.from({ length: 12 }, (_, at) => nodeWith(`w${at}`, [{ hostUse: route }, {}])).flat();
    const { out } = await suggest(nodes);
    expect(out).toContain("kind: SriovNetworkPoolConfig");
    expect(out.match(/kind: SriovNetworkNodePolicy/g)).toHaveLength(1);
    expect((await suggest([])).out).toContain("No PF was found");
  });
});
