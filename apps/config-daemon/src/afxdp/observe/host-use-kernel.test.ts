// SPDX-License-Identifier: Apache-2.0
/** Runs on the kernel of this machine, in a network namespace: what the host uses is not changed. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { AfxdpInterfaceStatus } from "@switchyard/api";
import { attachXdp, NetlinkSocket, protocols } from "@switchyard/netlink";
import {
  createNetworkNamespace,
  loadForeignXdpProgram,
  missingForNamespaces,
  type NetworkNamespace,
} from "@switchyard/netlink/testing";
import { findWorkspaceRoot } from "@switchyard/testing";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const main = join(findWorkspaceRoot(), "apps/config-daemon/src/testing/afxdp-pass-main.ts");

interface PassOutput {
  readonly result: string;
  readonly error: string;
  readonly devices: readonly AfxdpInterfaceStatus[];
}

(missingForNamespaces() === undefined ? describe : describe.skip)(
  "devices that the host uses, on the real kernel,",
  () => {
    let namespace: NetworkNamespace;
    let socket: NetlinkSocket;
    let root = "";

    beforeAll(async () => {
      root = mkdtempSync(join(tmpdir(), "switchyard-host-"));
      for (const directory of ["sys", "proc", "etc", "run"]) mkdirSync(join(root, directory));
      namespace = await createNetworkNamespace();
      await namespace.run("mount", "-t", "sysfs", "sysfs", `${root}/sys`);
      await namespace.run("mount", "--bind", "/proc", `${root}/proc`);
      socket = new NetlinkSocket({ protocol: protocols.route, netns: namespace.path });
      for (const name of ["program", "below", "free"]) {
        await namespace.run("ip", "link", "add", name, "type", "veth", "peer", "name", `${name}-peer`);
      }
      await namespace.run("ip", "link", "add", "mac0", "link", "below", "type", "macvlan");
      await namespace.run("ip", "link", "add", "mac1", "link", "mac0", "type", "macvlan");
      using foreign = loadForeignXdpProgram("xsk_def_prog");
      await attachXdp(socket, "program", { program: foreign, mode: "native" });
    });
    afterAll(async () => {
      await socket[Symbol.asyncDispose]();
      await namespace[Symbol.asyncDispose]();
      rmSync(root, { recursive: true });
    });

    async function pass(spec: object): Promise<PassOutput> {
      return JSON.parse(await namespace.run(process.execPath, main, root, JSON.stringify(spec))) as PassOutput;
    }

    const mtuOf = async (name: string) => Number((await namespace.run("cat", `/sys/class/net/${name}/mtu`)).trim());
    const wanted = (name: string) => ({ name, mode: "primary", poolName: "fast", policyName: "p", mtu: 1600 });

    it("are reported with the program or the interfaces above, at any depth; the ends of a pair are not above each other", async () => {
      const { devices } = await pass({});
      const uses = new Map(devices.map(({ name, usedBy }) => [name, usedBy]));
      expect(uses.get("program")).toEqual([
        expect.stringMatching(/^XDP program \d+ \(xsk_def_prog\) of another program$/),
      ]);
      // The kernel puts a macvlan of a macvlan on the interface below both.
      expect(uses.get("below")).toEqual(["macvlan mac0", "macvlan mac1"]);
      expect([uses.get("free"), uses.get("free-peer"), uses.get("below-peer")]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    });

    it("stay as they are, also if the spec has them, while a free one is configured", async () => {
      const { result, error } = await pass({ interfaces: ["program", "below", "free"].map(wanted) });
      expect(result).toBe("settled");
      expect(error).toContain("program is not changed: the host uses it: XDP program");
      expect(error).toContain("below is not changed: the host uses it: macvlan mac0");
      expect([await mtuOf("program"), await mtuOf("below"), await mtuOf("free")]).toEqual([1500, 1500, 1600]);
      expect(await namespace.run("ls", join(root, "etc/sriov-operator/afxdp"))).toBe("free\n");
    });

    it("can be configured once the host has removed the program and the interfaces", async () => {
      await namespace.run("ip", "link", "set", "program", "xdp", "off");
      await namespace.run("ip", "link", "del", "mac0");
      await namespace.run("ip", "link", "del", "mac1");
      const { error } = await pass({ interfaces: ["program", "below", "free"].map(wanted) });
      expect(error).toBe("");
      expect([await mtuOf("program"), await mtuOf("below")]).toEqual([1600, 1600]);
    });
  },
);
