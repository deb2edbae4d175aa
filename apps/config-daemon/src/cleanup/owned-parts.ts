// SPDX-License-Identifier: Apache-2.0
/**
 * ownedParts lists everything that the daemon leaves on a host besides the settings and records of PFs, which plans
 * remove. The CNI plugin of provider upstream and two files of the AF_XDP device plugin, its record and the program for
 * bpfman, are not listed either. A file that the daemon writes must be in this list, in the plan of an empty spec, or
 * in release-pf.ts: `config-daemon cleanup` removes nothing else.
 */
import {
  afxdpPluginRecord,
  bootConfigPath,
  bpfmanProgram,
  bpfmanProgramDirectory,
  isOwnBootFile,
  ownAfxdpCni,
} from "@switchyard/api";
import { bootProgramDirectory, type Host } from "@switchyard/host";
import { describeStep, rebootFile, type NodeStep } from "@switchyard/plan";
import { afxdpBootConfigPath, afxdpBootResultPath } from "../boot-files/afxdp-boot-config.ts";
import { bootResultPath } from "../boot-files/boot-result.ts";
import { kernelArgumentsFile, readKernelArgumentsRecord } from "../files/boot-records.ts";
import { guardFile } from "../guard/guard-record.ts";
import { setKernelArguments } from "../steps/kernel.ts";
import { listBootUnits, removeBootUnits } from "../systemd/remove-boot.ts";
import { afxdpRuleFile, isOwnRule } from "../udev/rule-files.ts";
import { hasListedBridges, listManagedBridges } from "../upstream/managed-ovs-bridges.ts";
import { ruleDirectory, unitDirectory } from "../upstream/upstream-files.ts";
import { knownNicsPath } from "../virtual/known-nics.ts";

/** Something on a host that `config-daemon cleanup` removes. */
interface OwnedPart {
  /** Describes each action that remove() would take: "remove /etc/sriov-operator/reboot.json". Rejects with HostError. */
  find(host: Host): Promise<readonly string[]>;
  /** Can be repeated. Rejects with HostError. */
  remove(host: Host): Promise<void>;
}

/** The directories of CNI plugins of Kubernetes and of OpenShift. */
const directories = ["/opt/cni/bin", "/var/lib/cni/bin"];

/**
 * afxdpCni is the CNI plugin "afxdp" as the DaemonSet afxdp-plugins installs it: a link to a file with a name that only Switchyard uses.
 * A plugin of this name that somebody else installed is not changed.
 */
export const afxdpCni: OwnedPart = {
  find: async (host) => (await ownFiles(host)).map((path) => `remove ${path}`),
  async remove(host) {
    for (const path of await ownFiles(host)) await host.files.remove(path);
  },
};

/** Units come first, so that the host does not configure itself again if it reboots in between. */
export const ownedParts: readonly OwnedPart[] = [
  {
    async find({ files }) {
      return (await listBootUnits(files)).map((name) => `disable ${name} and remove ${unitDirectory}/${name}`);
    },
    remove: async (host) => removeBootUnits(host, await listBootUnits(host.files)),
  },
  {
    async find({ bootProgram }) {
      return (await bootProgram.readVersion()) === undefined ? [] : [`remove ${bootProgramDirectory} and its versions`];
    },
    remove: ({ bootProgram }) => bootProgram.removeAll(),
  },
  {
    find: async (host) => (await ownRules(host)).map((path) => `remove ${path}`),
    async remove(host) {
      for (const path of await ownRules(host)) await host.files.remove(path);
      await host.udev.reloadRules();
    },
  },
  fileOf(bootConfigPath, isOwnBootFile),
  fileOf(bootResultPath, isOwnBootFile),
  fileOf(afxdpBootConfigPath, isOwnBootFile),
  fileOf(afxdpBootResultPath, isOwnBootFile),
  {
    async find(host) {
      const record = await fileOf(kernelArgumentsFile, () => true).find(host);
      return [...(await removalOf(host)).map(describeStep), ...record];
    },
    async remove(host) {
      for (const step of await removalOf(host)) await setKernelArguments(step, host);
      await host.files.remove(kernelArgumentsFile); // only after the arguments, whose owner it records
    },
  },
  {
    find: async (host) => ((await hasListedBridges(host)) ? ["remove the bridges from managed-ovs-bridges.json"] : []),
    remove: (host) => listManagedBridges(host, { existing: [], wanted: [] }),
  },
  afxdpCni,
  fileOf(afxdpPluginRecord, () => true),
  fileOf(`${afxdpPluginRecord}.unreadable`, () => true), // what the plugin could not read at a start
  fileOf(`${bpfmanProgramDirectory}/${bpfmanProgram.file}`, () => true),
  fileOf(rebootFile, () => true),
  fileOf(guardFile, () => true),
  fileOf(knownNicsPath, () => true),
];

/** A file that is removed if it has content of the daemon. */
function fileOf(path: string, isOwn: (text: string) => boolean): OwnedPart {
  const isPresent = async ({ files }: Host): Promise<boolean> => {
    const text = await files.readText(path);
    return text !== undefined && isOwn(text);
  };
  return {
    find: async (host) => ((await isPresent(host)) ? [`remove ${path}`] : []),
    async remove(host) {
      if (await isPresent(host)) await host.files.remove(path);
    },
  };
}

/**
 * Rules of bridges, and of PFs that the node does not have any more. Those of a PF and of an AF_XDP device are removed when it is
 * released.
 */
async function ownRules({ files, afxdpRecords }: Host): Promise<readonly string[]> {
  const devices = [...(await afxdpRecords.list()).keys()];
  const ofDevices = new Set(devices.map((device) => afxdpRuleFile(device, "primary")?.path));
  const own: string[] = [];
  for (const name of await files.listNames(ruleDirectory)) {
    const path = `${ruleDirectory}/${name}`;
    if (ofDevices.has(path)) continue;
    if (isOwnRule((await files.readText(path)) ?? "")) own.push(path);
  }
  return own;
}

/** Removes the arguments that the daemon has added. */
async function removalOf({ files }: Host): Promise<readonly NodeStep<"set-kernel-arguments">[]> {
  const { added } = await readKernelArgumentsRecord(files);
  return added.length === 0 ? [] : [{ kind: "set-kernel-arguments", add: [], remove: added }];
}

/** The link comes before the file that it leads to. */
async function ownFiles({ files }: Host): Promise<readonly string[]> {
  const own: string[] = [];
  for (const directory of directories) {
    const link = `${directory}/afxdp`;
    const file = `${directory}/${ownAfxdpCni}`;
    if ((await files.readLink(link)) === ownAfxdpCni) own.push(link);
    if ((await files.readKind(file)) === "file") own.push(file);
  }
  return own;
}
