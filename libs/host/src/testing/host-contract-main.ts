// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the host contract on this machine, as root, with one dual-port igb (or igbsw) whose VFs are not in use, and with the VFs of a
 * virtio NIC if there is one. It prints one
 * line for each case, then "N passed, N failed, N skipped". The exit code is 0 if all cases passed.
 * Usage: `node host-contract-main.ts [PART OF A CASE'S NAME]`; in the VM lab, as a bundle.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { Host } from "../ports/host.ts";
import { createLinuxHost } from "../linux/linux-host.ts";
import { linkOf, runContractCase, settle, type ContractCase, type ContractWorld } from "./contract/world.ts";
import { hostContractCases, systemdCases, virtioCases } from "./host-contract.ts";
import { pci } from "./nic-models.ts";

const namespace = "host-contract";

process.exitCode = await main(process.argv[2] ?? "");

async function main(part: string): Promise<number> {
  await using host = createLinuxHost("/", {
    onUnreadableRecord: ({ path, reason }) => {
      console.log(`note ${path} is not a PF record: ${reason}`);
    },
  });
  const pfs = await findIgb(host);
  if (pfs === undefined) {
    console.log(`skip all: this machine has no dual-port igb\n0 passed, 0 failed, ${hostContractCases.length} skipped`);
    return 1;
  }
  await host.modules.load("igbvf");
  const virtioPf = (await host.sriov.listPfs()).find(({ vendor, sriov }) => vendor === "1af4" && sriov !== undefined);
  const world = { ...worldOf(host, pfs), virtioPf: virtioPf?.pciAddress };
  const allCases = [
    ...hostContractCases,
    ...(existsSync("/run/systemd/system") ? systemdCases : []),
    ...(world.virtioPf === undefined ? [] : virtioCases),
  ];
  const cases = allCases.filter(({ name }) => name.includes(part));
  const outcomes: boolean[] = [];
  for (const contractCase of cases) outcomes.push(await passes(contractCase, world));
  const passed = outcomes.filter((outcome) => outcome).length;
  console.log(`${passed} passed, ${cases.length - passed} failed, ${allCases.length - cases.length} skipped`);
  return passed === cases.length ? 0 : 1;
}

async function passes(contractCase: ContractCase, world: ContractWorld): Promise<boolean> {
  const startMs = performance.now();
  try {
    await runContractCase(contractCase, world);
    console.log(`ok   ${contractCase.name} (${((performance.now() - startMs) / 1_000).toFixed(1)} s)`);
    return true;
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    console.log(`FAIL ${contractCase.name}\n${text.replaceAll(/^/gm, "     ")}`);
    return false;
  }
}

/** Returns both ports in the initial state of the contract. */
async function findIgb(host: Host): Promise<ContractWorld["pfs"] | undefined> {
  const [first, second] = (await host.sriov.listPfs()).filter(({ driver }) => driver === "igb");
  if (first === undefined || second === undefined) return undefined;
  await settle(host);
  for (const { pciAddress } of [first, second]) {
    await host.sriov.setNumVfs(pciAddress, 0);
    await host.links.setAdminUp((await linkOf(host, pciAddress)).name, true);
  }
  return [first.pciAddress, second.pciAddress];
}

function worldOf(host: Host, pfs: ContractWorld["pfs"]): ContractWorld {
  let hasNamespace = false;
  const added: (readonly string[])[] = [];

  async function moveLinkToPod(name: string): Promise<void> {
    if (!hasNamespace) await ip("netns", "add", namespace);
    hasNamespace = true;
    await ip("link", "set", "dev", name, "netns", namespace);
  }

  return {
    host,
    pfs,
    hasEswitch: existsSync("/sys/module/igbsw"),
    hasUdev: existsSync("/run/udev/control"),
    async udevProperties(name) {
      const { stdout } = await promisify(execFile)("udevadm", ["info", "-q", "property", `/sys/class/net/${name}`]);
      return Object.fromEntries(
        stdout.split("\n").map((line) => [line.split("=")[0] ?? "", line.replace(/^[^=]*=/, "")]),
      );
    },
    absent: pci("0000:fe:1f.7"),
    renameLink: (name, newName) => ip("link", "set", "dev", name, "name", newName),
    addAltName: (name, altName) => ip("link", "property", "add", "dev", name, "altname", altName),
    setPromiscuous: (name) => ip("link", "set", "dev", name, "promisc", "on"),
    async addLink(name, kind, lower) {
      const options = kind === "vlan" ? ["id", "5"] : [];
      await ip("link", "add", ...(lower === undefined ? [] : ["link", lower]), "name", name, "type", kind, ...options);
      added.push(["link", name]);
      await ip("link", "set", "dev", name, "up");
    },
    setMaster: (name, master) => ip("link", "set", "dev", name, "master", master),
    async addRoute(destination, name) {
      const route = [destination, "dev", name, "metric", "4000"];
      await ip("route", "add", ...route);
      added.push(["route", ...route]);
    },
    async removeLinksAndRoutes() {
      for (const [object = "", ...words] of added.splice(0)) await ip(object, "delete", ...words);
    },
    moveToPod: (_vf, name) => moveLinkToPod(name),
    moveLinkToPod,
    async addRdmaDevice(name, link) {
      await run("modprobe", "rdma_rxe");
      await run("rdma", "link", "add", name, "type", "rxe", "netdev", link);
    },
    async unloadRdma() {
      for (const name of await readdir("/sys/class/infiniband").catch(() => []))
        await run("rdma", "link", "delete", name);
      await run("modprobe", "-r", "rdma_rxe", "ib_core");
    },
    loadVdpaSimulator: () => run("modprobe", "vdpa_sim_net"),
    unloadVdpa: () => run("modprobe", "-r", "vdpa_sim_net", "vp_vdpa", "vhost_vdpa", "virtio_vdpa", "vdpa"),
    setRdmaMode: (mode) => run("rdma", "system", "set", "netns", mode),
    async returnFromPods() {
      if (hasNamespace) await ip("netns", "delete", namespace); // the kernel moves the hardware back to the host
      hasNamespace = false;
    },
    async writeFile(path, text) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    },
    linkFile: (path, target) => symlink(target, path),
  };
}

function ip(...args: readonly string[]): Promise<void> {
  return run("ip", ...args);
}

async function run(program: string, ...args: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args);
}
