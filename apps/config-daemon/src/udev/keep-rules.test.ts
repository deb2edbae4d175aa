// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { defined, type InterfaceSpec, type SriovNetworkNodeState } from "@switchyard/api";
import {
  createFakeKernel,
  igb,
  mlx5,
  pci,
  upstreamHelpers,
  upstreamRules,
  type FakeKernel,
} from "@switchyard/host/testing";
import { daemonOn } from "../testing/daemon-on.ts";
import { keepBridgeRule, removeBridgeRule } from "./keep-rules.ts";
import { bridgeRuleFile, isOwnRule, pfNameIn, pfNumberIn, ruleFilesOf } from "./rule-files.ts";

const pf = "0000:3b:00.0";
const directory = "/etc/udev/rules.d";
const unmanagedFile = `${directory}/10-nm-disable-${pf}.rules`;

function nodeState(spec: Partial<InterfaceSpec>): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1" },
    spec: { interfaces: [{ pciAddress: pf, numVfs: 2, ...spec }] },
  };
}

const newKernel = (): FakeKernel => createFakeKernel({ nics: [mlx5(pf)] });
const read = (kernel: FakeKernel, path: string) => kernel.host().files.readText(path);

const unmanagedText = 'ENV{NM_UNMANAGED}="1", ENV{ID_NET_MANAGED_BY}="unmanaged"';
const unmanagedProperties = { NM_UNMANAGED: "1", ID_NET_MANAGED_BY: "unmanaged" };

describe("udev rules of a PF", () => {
  it("are in force when its VFs appear", async () => {
    const kernel = newKernel();
    await daemonOn(kernel.host()).pass(nodeState({ eSwitchMode: "switchdev" }));
    for (const vf of ["enp59s0f0v0", "enp59s0f0v1"]) expect(kernel.udevProperties(vf)).toEqual(unmanagedProperties);
    expect(kernel.udevProperties("enp59s0f0np0")).toEqual({});
    expect(kernel.udevProperties("enp59s0f0np0_1")).toEqual(unmanagedProperties);
  });

  it("are written after the record of the PF and before anything changes", async () => {
    const kernel = newKernel();
    await daemonOn(kernel.host()).pass(nodeState({}));
    const order = kernel.writes.map(({ port, method }) => `${port} ${method}`);
    expect(order.slice(0, 4)).toEqual(["records save", "files writeText", "udev reloadRules", "sriov setNumVfs"]);
  });

  it("are repaired when somebody changes or removes them", async () => {
    const kernel = newKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState({}));
    const text = (await read(kernel, unmanagedFile)) ?? "";
    kernel.writeFile(unmanagedFile, text.replace("virtfn1", "virtfn7"));
    await daemon.pass(nodeState({}));
    expect(await read(kernel, unmanagedFile)).toBe(text);
    await kernel.host().files.remove(unmanagedFile);
    await daemon.pass(nodeState({}));
    expect(await read(kernel, unmanagedFile)).toBe(text);
  });

  it("replace those of the Go operator and keep the name in them", async () => {
    const kernel = newKernel();
    const files = [...upstreamRules(pci(pf), "ens1f0", "switchdev"), ...upstreamHelpers];
    for (const [path, text] of files) kernel.writeFile(path, text);
    const daemon = daemonOn(kernel.host());
    expect([await daemon.pass(nodeState({ eSwitchMode: "switchdev" })), daemon.error()]).toEqual(["settled", ""]);
    for (const { path } of ruleFilesOf(pci(pf))) expect(isOwnRule((await read(kernel, path)) ?? "")).toBe(true);
    expect(pfNameIn((await read(kernel, `${directory}/10-pf-name-${pf}.rules`)) ?? "")).toBe("ens1f0");
  });

  it("do not replace somebody else's file, which is reported; the VFs are configured", async () => {
    const kernel = newKernel();
    kernel.writeFile(unmanagedFile, "# mine\n");
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState({}))).toBe("retry");
    expect(daemon.error()).toBe(
      `spec.interfaces[0]: write on ${unmanagedFile}: EEXIST ` +
        "(a file that Switchyard did not write is in its place; remove or rename it)",
    );
    expect(await read(kernel, unmanagedFile)).toBe("# mine\n");
    expect(daemon.shown().find(({ pciAddress }) => pciAddress === pf)?.numVfs).toBe(2);
    await daemon.pass({ ...nodeState({}), spec: { unselected: [pf] } });
    expect(await read(kernel, unmanagedFile)).toBe("# mine\n");
  });

  it("are reported if the disk is read-only; the VFs of all PFs are configured", async () => {
    const kernel = newKernel();
    kernel.fault({ port: "files", method: "writeText" }, { code: "EROFS" });
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState({}));
    expect(daemon.error()).toBe(`spec.interfaces[0]: write on ${unmanagedFile}: EROFS`);
    expect(daemon.shown().find(({ pciAddress }) => pciAddress === pf)?.numVfs).toBe(2);
  });

  it("are reported if udev does not read them", async () => {
    const kernel = newKernel();
    kernel.fault({ port: "udev", method: "reloadRules" }, { code: "ETIMEDOUT" });
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState({}));
    expect(daemon.error()).toBe("spec.interfaces[0]: reload rules on udev: ETIMEDOUT");
  });

  it("are read by udev again if the daemon was killed before", async () => {
    const kernel = newKernel();
    const lost = kernel.fault({ port: "udev", method: "reloadRules" }, { code: "EINTR" });
    kernel.fault({ port: "sriov", method: "setNumVfs" }, { code: "EINTR" });
    await daemonOn(kernel.host()).pass(nodeState({}));
    lost.lift();
    await daemonOn(kernel.host()).pass(nodeState({}));
    expect(kernel.writes.filter(({ method, code }) => method === "reloadRules" && code === undefined)).toHaveLength(1);
  });

  it("do not change with the number of VFs, so udev does not read its rules again", async () => {
    const kernel = newKernel();
    const daemon = daemonOn(kernel.host());
    for (const numVfs of [2, 6, 0, 4]) await daemon.pass(nodeState({ numVfs }));
    expect(kernel.writes.filter(({ method }) => method === "reloadRules")).toHaveLength(1);
  });

  it("are removed when another tool takes over the PF", async () => {
    const kernel = newKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState({}));
    await daemon.pass(nodeState({ externallyManaged: true }));
    expect(kernel.listFiles()).toEqual([]);
  });
});

describe("the texts of rules", () => {
  const texts = (name: string, totalVfs = 3, pfNumber?: number) =>
    ruleFilesOf(pci(pf), { totalVfs, mode: "switchdev", name, ...defined({ pfNumber }) }).map(({ text }) =>
      text?.split("\n").slice(2, -1),
    );

  it("have one line for each VF", () => {
    const [vfs, pfName, representors] = texts("ens1f0np0", 2, 1);
    expect(vfs).toEqual([0, 1].map((vf) => `SUBSYSTEM=="net", ACTION!="remove", TEST=="/sys/bus/pci/devices/${pf}/virtfn${vf}/net/%k", ${unmanagedText}`)); // prettier-ignore
    expect(pfName).toEqual([`SUBSYSTEM=="net", ACTION=="add", KERNELS=="${pf}", ATTR{phys_port_name}=="p[0-9]*", NAME="ens1f0np0"`]); // prettier-ignore
    expect(representors?.slice(0, 2)).toEqual([0, 1].map((vf) => `SUBSYSTEM=="net", ACTION=="add", KERNELS=="0000:3b:00.[0-7]", ATTR{phys_port_name}=="pf1vf${vf}|p1pf0vf${vf}", NAME="ens1f0np0_${vf}"`)); // prettier-ignore
    expect(representors?.slice(2)).toEqual([`SUBSYSTEM=="net", ACTION!="remove", KERNELS=="0000:3b:00.[0-7]", ATTR{phys_port_name}=="pf1vf*|p1pf0vf*", ${unmanagedText}`]); // prettier-ignore
    expect(pfNumberIn(representors?.join("\n") ?? "")).toBe(1);
  });

  it("name only representors below the PF itself if the driver's number of the PF is not known", () => {
    const [, , representors = []] = texts("ens1f0np0", 1);
    expect(representors).toEqual([`SUBSYSTEM=="net", ACTION=="add", KERNELS=="${pf}", ATTR{phys_port_name}=="pf0vf0|p0pf0vf0", NAME="ens1f0np0_0"`, `SUBSYSTEM=="net", ACTION!="remove", KERNELS=="${pf}", ATTR{phys_port_name}=="pf0vf*|p0pf0vf*", ${unmanagedText}`]); // prettier-ignore
    expect(pfNumberIn(representors.join())).toBeUndefined();
  });

  it("leave names of more than 15 bytes to udev", () => {
    const [, , representors = []] = texts("enp130s0f0np0", 12);
    expect(representors).toHaveLength(11); // enp130s0f0np0_9 has 15 bytes; the last rule is for all of them
  });

  it.each(['x"', "a b", "$x", "%k", "../x", "", "a".repeat(16), "x\n"])("never contain the name %j", (name) => {
    const [vfs, pfName, representors] = texts(name);
    expect([vfs?.length, pfName, representors]).toEqual([3, undefined, undefined]);
    expect(bridgeRuleFile(name)).toBeUndefined();
    expect(pfNameIn(`NET, NAME="${name}"`)).toBeUndefined();
  });
});

describe("the rule of a bridge", () => {
  const bridge = "br-0000_3b_00.0";

  it("keeps NetworkManager away, and is removed", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    await keepBridgeRule(kernel.host(), bridge);
    await keepBridgeRule(kernel.host(), bridge);
    const path = `${directory}/10-nm-disable-${bridge}.rules`;
    expect(await read(kernel, path)).toContain(`KERNEL=="${bridge}", ${unmanagedText}`);
    expect(kernel.writes.map(({ method }) => method)).toEqual(["writeText", "reloadRules"]);
    await removeBridgeRule(kernel.host(), bridge);
    await removeBridgeRule(kernel.host(), bridge);
    expect(kernel.listFiles()).toEqual([]);
  });

  it("refuses a name that is none", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    await expect(keepBridgeRule(kernel.host(), '../x"')).rejects.toMatchObject({ code: "EINVAL" });
    expect(kernel.writes).toEqual([]);
  });
});
