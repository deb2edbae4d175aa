// SPDX-License-Identifier: Apache-2.0
/**
 * Explains errors of steps. sysfs answers with an errno only; the reason is in the kernel log, in lines with the PCI address. What an
 * errno means for a step is known from the drivers (drivers/pci/iov.c and drivers/net/ethernet, 6.12).
 */
import { parsePciAddress } from "@switchyard/api";
import { HostError, type KernelLog } from "@switchyard/host";

/** Lines of the kernel log in one error, and the length of each. A driver can log the same line for each VF. */
const limits = { lines: 2, length: 160 };

/** Meaning of an errno by the beginning of the operation. */
const meanings: readonly { readonly operation: RegExp; readonly of: Readonly<Record<string, string>> }[] = [
  {
    operation: /^set sriov_numvfs [1-9]/,
    of: {
      ENOSPC: "the card or its driver has no interrupts or queues left for this number of VFs",
      EPERM: "the driver does not allow this number of VFs with the present resources and settings of the card",
      EINVAL: "the driver does not support this number of VFs",
      EOPNOTSUPP:
        "the driver offers no VFs in its present state, for example without its firmware package (safe mode of ice)",
      ENOENT: "the PF has no driver, or its driver offers no SR-IOV",
      ENOMEM:
        "the PCI bridges have no memory space or bus numbers left for the VFs, or a limit of the firmware is reached",
      EBUSY: "the driver or the firmware of the card is busy",
      EAGAIN: "the driver or the firmware of the card is busy",
    },
  },
  { operation: /^bind driver vfio-pci/, of: { EINVAL: "the VF has no IOMMU group, because the IOMMU is off" } },
];

/** Explains the errors of the steps of one PF, from its creation on. */
export interface Explainer {
  /** Returns the error with its meaning and the lines of the kernel log. An error that is already explained is returned as it is. */
  explain(error: HostError): Promise<HostError>;
}

export function createExplainer(log: KernelLog, pf: string): Explainer {
  const explained = new WeakSet<HostError>();
  const started = log.readPosition().catch(noPosition);

  async function linesOf(device: string): Promise<readonly string[]> {
    const after = await started;
    if (after === undefined) return [];
    const lines = await log.readLines({ after, device }).catch(noLines);
    return [...new Set(lines.map((line) => withoutAddress(line, device)))];
  }

  return {
    async explain(error) {
      if (explained.has(error)) return error;
      const { operation, code, words } = error;
      const target = parsePciAddress(operation.target);
      const devices = [...new Set([...(target.ok ? [target.value] : []), pf])];
      const lines = (await Promise.all(devices.map(linesOf))).flat().slice(-limits.lines);
      const meaning = words === undefined ? meaningOf(operation.action, code) : undefined;
      const added = [
        ...(meaning === undefined ? [] : [meaning]),
        ...(lines.length === 0 ? [] : [`kernel: ${lines.join(", ")}`]),
      ];
      if (added.length === 0) return error;
      const next = new HostError(operation, code, {
        words: [words, ...added].filter(Boolean).join("; "),
        cause: error,
      });
      explained.add(next);
      return next;
    },
  };
}

/** The log explains errors, and its own error explains nothing. */
function noPosition(error: unknown): undefined {
  if (!(error instanceof HostError)) throw error;
  return undefined;
}

function noLines(error: unknown): readonly string[] {
  if (!(error instanceof HostError)) throw error;
  return [];
}

function meaningOf(action: string, code: string): string | undefined {
  return meanings.find(({ operation }) => operation.test(action))?.of[code];
}

/** "ice: Only 12 MSI-X interrupts available" for "ice 0000:18:00.0: Only 12 …". */
function withoutAddress(line: string, device: string): string {
  return line.replace(` ${device}:`, ":").slice(0, limits.length);
}
