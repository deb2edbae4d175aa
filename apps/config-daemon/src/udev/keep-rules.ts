// SPDX-License-Identifier: Apache-2.0
/**
 * createUdevRules keeps the udev rules of the PFs that Switchyard configures. They are written before VFs and representors
 * appear, and udev reads them before that. They are not steps of a plan, because the status does not show them.
 */
import {
  defined,
  parsePciAddress,
  type AfxdpInterfaceSpec,
  type InterfaceSpec,
  type InterfaceStatus,
  type PciAddress,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { HostError, type Host, type HostFiles } from "@switchyard/host";
import type { PlanProblem } from "@switchyard/plan";
import { createWithDeadline, type DeadlineDeps } from "../deadlines/with-deadline.ts";
import {
  afxdpRuleFile,
  bridgeRuleFile,
  isOwnRule,
  pfNameIn,
  pfNumberIn,
  ruleFilesOf,
  type RuleFile,
} from "./rule-files.ts";

/** Writes the rules of the PFs in `wanted` that the node has. Returns a problem for each rule that could not be written. */
export type KeepUdevRules = (input: KeepUdevRulesInput) => Promise<readonly PlanProblem[]>;

export interface KeepUdevRulesInput {
  readonly desired: SriovNetworkNodeStateSpec;
  /** The PFs of `desired` that Switchyard owns. */
  readonly wanted: readonly InterfaceSpec[];
  readonly found: readonly InterfaceStatus[];
  /** The numbers of PFs in the port names of their representors, as far as they are known. */
  readonly pfNumbers: ReadonlyMap<string, number>;
  /** Whether steps follow, which can create interfaces. */
  readonly hasSteps: boolean;
}

export function createUdevRules(host: Host, deps: DeadlineDeps): KeepUdevRules {
  const withDeadline = createWithDeadline(host, deps);
  // A daemon that was killed may have written rules that udev has not read. They matter when interfaces appear.
  let isReloadDue = true;
  let hasChanged = false;

  return async function keepUdevRules({ desired, wanted, found, pfNumbers, hasSteps }) {
    const problems: PlanProblem[] = [];
    const report = (pciAddress: string, message: string): void => {
      const index = (desired.interfaces ?? []).findIndex((spec) => spec.pciAddress === pciAddress);
      problems.push({ code: "udev-rules", field: `spec.interfaces[${index}]`, pciAddress, message });
    };
    const ruled = wanted.flatMap((spec) => {
      const address = parsePciAddress(spec.pciAddress);
      const status = found.find(({ pciAddress }) => pciAddress === spec.pciAddress);
      return address.ok && status !== undefined ? [{ spec, pf: address.value, status }] : [];
    });
    const [first] = ruled;
    if (first === undefined) return [];
    const kept = await withDeadline(async (watched) => {
      for (const { spec, pf, status } of ruled) {
        try {
          const files = await wantedFiles(watched.files, spec, { pf, status, pfNumber: pfNumbers.get(pf) });
          for (const file of files) {
            if (await keepFile(watched.files, file)) hasChanged = true;
          }
        } catch (error) {
          if (!(error instanceof HostError)) throw error;
          report(pf, error.message);
        }
      }
      if (!hasChanged && !(isReloadDue && hasSteps)) return;
      await watched.udev.reloadRules();
      isReloadDue = hasChanged = false;
    }).catch((error: unknown) => {
      if (!(error instanceof HostError)) throw error;
      return { ok: false, error: error.message } as const; // udev does not answer
    });
    if (!kept.ok) report(first.pf, kept.error);
    return problems;
  };
}

/**
 * Removes the rules of a PF, Switchyard's and the Go operator's. Returns whether a file was removed; udev must then reload its
 * rules. Rejects with HostError.
 */
export async function removeRules(files: HostFiles, pf: PciAddress): Promise<boolean> {
  let changed = false;
  for (const file of ruleFilesOf(pf)) changed = (await keepFile(files, file)) || changed;
  return changed;
}

interface FoundPf {
  readonly pf: PciAddress;
  readonly status: InterfaceStatus;
  /** Undefined if it is not known. */
  readonly pfNumber: number | undefined;
}

async function wantedFiles(
  files: HostFiles,
  { externallyManaged, numVfs = 0, eSwitchMode }: InterfaceSpec,
  { pf, status, pfNumber }: FoundPf,
): Promise<readonly RuleFile[]> {
  if (externallyManaged === true) return ruleFilesOf(pf);
  const mode = eSwitchMode === "switchdev" ? "switchdev" : "legacy";
  // The name in the rule stays: the present name can be the kernel's, for example while udev is starting.
  const [, nameFile, representorFile] = ruleFilesOf(pf);
  const readRule = (file: RuleFile | undefined) =>
    mode === "legacy" || file === undefined ? undefined : files.readText(file.path);
  const name = pfNameIn((await readRule(nameFile)) ?? "") ?? status.name;
  // A PF whose interface is gone for a moment has no port name.
  const number = pfNumber ?? pfNumberIn((await readRule(representorFile)) ?? "");
  const totalVfs = Math.max(numVfs, status.totalvfs ?? 0);
  return ruleFilesOf(pf, { totalVfs, mode, ...defined({ name, pfNumber: number }) });
}

/** Brings one file in its state, and reports whether it changed. Rejects with HostError, EEXIST for somebody else's file. */
async function keepFile(files: HostFiles, { path, text, isUpstreams }: RuleFile): Promise<boolean> {
  if (text === undefined && (await files.readKind(path)) === undefined) return false; // the usual case
  const existing = await files.readText(path);
  if (existing !== undefined && existing === text) return false;
  const isReplaceable =
    existing === undefined ? (await files.readKind(path)) === undefined : isOwnRule(existing) || isUpstreams(existing);
  if (text === undefined) {
    if (isReplaceable && existing !== undefined) await files.remove(path);
    return isReplaceable;
  }
  if (!isReplaceable) {
    const words = "a file that Switchyard did not write is in its place; remove or rename it";
    throw new HostError({ action: "write", target: path }, "EEXIST", { words });
  }
  await files.writeText(path, text);
  return true;
}

/**
 * Keeps NetworkManager away from the bridges that Switchyard creates, by one udev rule for each bridge.
 * Rejects with HostError: EINVAL if `bridge` cannot be the name of an interface, EEXIST for somebody else's file.
 */
export async function keepBridgeRule({ files, udev }: Pick<Host, "files" | "udev">, bridge: string): Promise<void> {
  const file = bridgeRuleFile(bridge);
  if (file === undefined)
    throw new HostError({ action: "write udev rule", target: JSON.stringify(bridge) }, "EINVAL", {});
  if (await keepFile(files, file)) await udev.reloadRules();
}

/** Removes the rule, if Switchyard wrote it. Rejects with HostError. */
export async function removeBridgeRule({ files, udev }: Pick<Host, "files" | "udev">, bridge: string): Promise<void> {
  const file = bridgeRuleFile(bridge);
  if (file === undefined) return;
  const { path, isUpstreams } = file;
  if (await keepFile(files, { path, isUpstreams })) await udev.reloadRules();
}

/**
 * Keeps network services away from an AF_XDP device: NetworkManager would configure a device that comes back from a pod, and new
 * subfunctions. Removes the rule of a device that another tool manages. Rejects with HostError, EEXIST for somebody else's file.
 */
export async function keepAfxdpRule(
  { files, udev }: Pick<Host, "files" | "udev">,
  device: string,
  { mode, externallyManaged }: Pick<AfxdpInterfaceSpec, "mode" | "externallyManaged">,
): Promise<void> {
  const file = afxdpRuleFile(device, mode);
  if (file === undefined) return;
  const { path, isUpstreams } = file;
  if (await keepFile(files, externallyManaged === true ? { path, isUpstreams } : file)) await udev.reloadRules();
}

/** Removes the rule, if Switchyard wrote it. Rejects with HostError. */
export async function removeAfxdpRule(host: Pick<Host, "files" | "udev">, device: string): Promise<void> {
  await keepAfxdpRule(host, device, { mode: "primary", externallyManaged: true });
}
