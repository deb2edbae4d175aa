// SPDX-License-Identifier: Apache-2.0
/**
 * Returns the udev rules that Switchyard keeps for a PF, under the same paths as the Go operator (sriov-operator.md F.7). Each
 * VF has its own line, so no rule calls a program. All functions of this file are pure.
 */
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import type { EswitchMode } from "@switchyard/host";
import { functionNumberOf } from "../observe/interface-status.ts";
import { ruleDirectory, rulesOf } from "../upstream/upstream-files.ts";

/** A file below /etc/udev/rules.d. */
export interface RuleFile {
  readonly path: string;
  /** Absent: the file must not exist. */
  readonly text?: string;
  /** Reports whether a text is the Go operator's. Its files are replaced. */
  readonly isUpstreams: (text: string) => boolean;
}

/** What the rules of a PF depend on. */
export interface RuledPf {
  /**
   * The most VFs that the PF can have. The rules do not depend on the present number, so that udev need not read its rules
   * again, which delays all its events, whenever that number changes.
   */
  readonly totalVfs: number;
  readonly mode: EswitchMode;
  /** Name that the interface of the PF must keep; absent if it is unknown. */
  readonly name?: string;
  /** The number of the PF in the port names of its representors; absent if it is unknown. */
  readonly pfNumber?: number;
}

const owner = "# Managed by Switchyard, which overwrites changes and removes this file with its owner's configuration.";

/** Reports whether Switchyard wrote the text. */
export function isOwnRule(text: string): boolean {
  return text.startsWith(`${owner}\n`);
}

/** Returns all files that can belong to the PF. Without `wanted`, none of them must exist. */
export function ruleFilesOf(pf: PciAddress, wanted?: RuledPf): readonly RuleFile[] {
  const texts =
    wanted === undefined ? [] : [unmanagedVfs(pf, wanted), pfName(pf, wanted), representorNames(pf, wanted)];
  return rulesOf(pf).map(({ path, isUpstreams }, index) => {
    const text = texts[index];
    return { path, isUpstreams, ...(text !== undefined && { text }) };
  });
}

/** Returns the rule that keeps network services away from a bridge; undefined if `bridge` cannot be the name of an interface. */
export function bridgeRuleFile(bridge: string): (RuleFile & { readonly text: string }) | undefined {
  if (!isPlainName(bridge)) return undefined;
  return {
    path: `${ruleDirectory}/10-nm-disable-${bridge}.rules`,
    text: textOf(["Bridge of Switchyard: not managed by network services."], [rule(`KERNEL=="${bridge}"`, unmanaged)]),
    isUpstreams: () => false, // upstream has no rule for bridges
  };
}

/**
 * Returns the rule that keeps network services away from an AF_XDP device, or from its subfunctions and their representors. `device`
 * is a PCI address or the name of an interface; undefined if it cannot be part of a rule.
 */
export function afxdpRuleFile(
  device: string,
  mode: "primary" | "subfunction",
): (RuleFile & { readonly text: string }) | undefined {
  const address = parsePciAddress(device);
  if (!address.ok && !isPlainName(device)) return undefined;
  // The representors and the port itself are below the same function, the subfunctions below its auxiliary devices.
  const ofFunction = [
    rule(`DEVPATH=="*/${device}/*.sf.*/net/*"`, unmanaged),
    rule(`KERNELS=="${device}", ATTR{phys_port_name}=="*pf[0-9]*sf[0-9]*"`, unmanaged),
  ];
  const ofDevice = [rule(address.ok ? `KERNELS=="${device}"` : `KERNEL=="${device}"`, unmanaged)];
  return {
    path: `${ruleDirectory}/10-nm-disable-afxdp-${device}.rules`,
    text: textOf(
      [`AF_XDP device ${device}: not managed by network services.`],
      mode === "primary" ? ofDevice : ofFunction,
    ),
    isUpstreams: () => false, // upstream has no rules for such devices
  };
}

/** Returns the name of the PF in the rule that keeps it, whoever wrote the rule. */
export function pfNameIn(text: string): string | undefined {
  const [, name] = /, NAME="([^"]*)"\s*$/.exec(text) ?? [];
  return name !== undefined && isPlainName(name) ? name : undefined;
}

/** Returns the number of the PF in its rules for representors; undefined if they were written without knowing it. */
export function pfNumberIn(text: string): number | undefined {
  const [, number] = /, KERNELS=="[^"]*\.\[0-7\]", ATTR\{phys_port_name\}=="pf(\d+)vf\d+\|/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** NetworkManager reads the first one, and systemd-networkd 256 and later the second one (networkd-link.c). */
const unmanaged = 'ENV{NM_UNMANAGED}="1", ENV{ID_NET_MANAGED_BY}="unmanaged"';

/** The VF of an interface is found by its link in the directory of the PF, because a VF's own address depends on the card. */
function unmanagedVfs(pf: PciAddress, { totalVfs }: RuledPf): string | undefined {
  const lines = indexes(totalVfs).map((vfId) =>
    rule(`TEST=="/sys/bus/pci/devices/${pf}/virtfn${vfId}/net/%k"`, unmanaged),
  );
  return lines.length === 0 ? undefined : textOf([`VFs of ${pf}: not managed by network services.`], lines);
}

/** In switchdev mode, the PF gets a port name, and would get another name by it. */
function pfName(pf: PciAddress, { mode, name }: RuledPf): string | undefined {
  if (mode !== "switchdev" || name === undefined || !isPlainName(name)) return undefined;
  const line = `SUBSYSTEM=="net", ACTION=="add", KERNELS=="${pf}", ATTR{phys_port_name}=="p[0-9]*", NAME="${name}"`;
  return textOf([`PF ${pf}: keeps its name in switchdev mode.`], [line]);
}

/**
 * Representors of a card can be below any of its functions; the number after "pf" tells whose VF it is (representors.ts). The second
 * pattern is that of sfc. If the number is not known, only those below the PF itself get a name: another port's must not get it.
 */
function representorNames(pf: PciAddress, { mode, name, totalVfs, pfNumber }: RuledPf): string | undefined {
  if (mode !== "switchdev" || name === undefined || !isPlainName(name)) return undefined;
  const functionNumber = functionNumberOf(pf);
  const number = pfNumber ?? functionNumber;
  const below = pfNumber === undefined ? pf : `${pf.slice(0, -1)}[0-7]`;
  const any = `KERNELS=="${below}", ATTR{phys_port_name}=="pf${number}vf*|p${number}pf${functionNumber}vf*"`;
  const lines = indexes(totalVfs).flatMap((vfId) => {
    const representor = `${name}_${vfId}`;
    if (!isPlainName(representor)) return []; // too long: the kernel's name stays
    const ports = `pf${number}vf${vfId}|p${number}pf${functionNumber}vf${vfId}`;
    return [
      `SUBSYSTEM=="net", ACTION=="add", KERNELS=="${below}", ATTR{phys_port_name}=="${ports}", NAME="${representor}"`,
    ];
  });
  if (lines.length === 0) return undefined;
  return textOf([`Representors of the VFs of ${pf}.`], [...lines, rule(any, unmanaged)]);
}

function rule(match: string, assignment: string): string {
  return `SUBSYSTEM=="net", ACTION!="remove", ${match}, ${assignment}`;
}

function textOf(comments: readonly string[], lines: readonly string[]): string {
  return `${[owner, ...comments.map((comment) => `# ${comment}`), ...lines].join("\n")}\n`;
}

/** Reports whether a text can be the name of an interface, and means only itself in a rule. */
function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9_.-]{1,15}$/.test(name);
}

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
