// SPDX-License-Identifier: Apache-2.0
/**
 * Lists the files that the Go operator's daemon writes on hosts, and recognises them by path and content (sriov-operator.md
 * F.7, F.11). A file that was changed, or that has only the name of such a file, is not recognised.
 */
import type { PciAddress } from "@switchyard/api";

export interface UpstreamFile {
  readonly path: string;
  readonly isUpstreams: (text: string) => boolean;
}

/** Files that the units of the systemd mode read and write. Upstream creates each of them empty. */
export const dataFiles: readonly UpstreamFile[] = [
  { path: "/etc/sriov-operator/sriov-interface-config.yaml", isUpstreams: hasKeys("spec", "unsupportedNics") },
  { path: "/etc/sriov-operator/sriov-interface-result.yaml", isUpstreams: hasKeys("syncStatus", "lastSyncError") },
  { path: "/etc/sriov-operator/sriov-supported-nics-ids.yaml", isUpstreams: everyLine(/^([0-9a-f]{4} ?){3}$/i) },
];

export const unitDirectory = "/etc/systemd/system";

/** Directory with a link to each enabled unit. */
export const wantsDirectory = `${unitDirectory}/multi-user.target.wants`;

/** Reports whether OpenShift's Machine Config Operator wrote the unit. It reports a node as degraded if its file is missing. */
export function isMachineConfigUnit(text: string): boolean {
  return text.includes("/etc/ignition-machine-config-encapsulated.json");
}

export const ruleDirectory = "/etc/udev/rules.d";

/** Returns the udev rules of a PF. Each file contains one rule. */
export function rulesOf(pf: PciAddress): readonly UpstreamFile[] {
  const [disableNetworkManager, nameRepresentor] = helpers;
  const of = (name: string) => `${ruleDirectory}/${name}-${pf}.rules`;
  return [
    {
      path: of("10-nm-disable"),
      isUpstreams: isRule({
        "SUBSYSTEM==": "net",
        "ACTION==": /^[a-z|]+$/,
        "ATTRS{device}==": /^[0-9a-fx|]*$/,
        "IMPORT{program}=": `${disableNetworkManager.path} $env{INTERFACE} ${pf}`,
      }),
    },
    {
      path: of("10-pf-name"),
      isUpstreams: isRule({
        "SUBSYSTEM==": "net",
        "ACTION==": "add",
        "DRIVERS==": "?*",
        "KERNELS==": pf,
        "NAME=": /./,
      }),
    },
    {
      path: of("20-switchdev"),
      isUpstreams: isRule({
        "SUBSYSTEM==": "net",
        "ACTION==": /^[a-z|]+$/,
        "ATTRS{phys_switch_id}==": /./,
        "ATTR{phys_port_name}==": /^pf\d+vf\*$/,
        "IMPORT{program}=": `${nameRepresentor.path} $attr{phys_port_name}`,
        "NAME=": /_\$env\{NUMBER\}$/,
      }),
    },
  ];
}

/** Scripts that rules call. Rules of several PFs can call the same script. */
export const helpers: readonly [UpstreamFile, UpstreamFile] = [
  { path: "/etc/udev/disable-nm-sriov.sh", isUpstreams: isScriptWith("/device/physfn", 'echo "NM_UNMANAGED=1"') },
  { path: "/etc/udev/switchdev-vf-link-name.sh", isUpstreams: isScriptWith('echo "NUMBER=${PORT##pf*vf}"') },
];

/** Matches one udev rule with these parts in this order. Each part is a key with its operator, and a value or a pattern. */
function isRule(expected: Readonly<Record<string, string | RegExp>>): UpstreamFile["isUpstreams"] {
  return (text) => {
    const parts = text.trim().split(", ");
    const values = Object.entries(expected);
    return (
      parts.length === values.length &&
      values.every(([key, value], at) => {
        const [, found] = /^"([^"\n]*)"$/.exec(parts[at]?.slice(key.length) ?? "") ?? [];
        if (found === undefined || parts[at]?.startsWith(key) !== true) return false;
        return typeof value === "string" ? found === value : value.test(found);
      })
    );
  };
}

/** Matches YAML whose top level contains these keys and only keys; also an empty file. */
function hasKeys(...keys: readonly string[]): UpstreamFile["isUpstreams"] {
  return (text) => {
    const top = text.split("\n").filter((line) => /^\S/.test(line));
    const found = top.map((line) => /^(\w+):/.exec(line)?.[1]);
    return text === "" || (found.every((key) => key !== undefined) && keys.every((key) => found.includes(key)));
  };
}

function everyLine(pattern: RegExp): UpstreamFile["isUpstreams"] {
  return (text) => text.split("\n").every((line) => line === "" || pattern.test(line));
}

/** Matches a Bash script of less than 2 KiB, as upstream's scripts are. */
function isScriptWith(...words: readonly string[]): UpstreamFile["isUpstreams"] {
  return (text) => text.startsWith("#!/bin/bash") && text.length < 2_048 && words.every((word) => text.includes(word));
}
