// SPDX-License-Identifier: Apache-2.0
/**
 * bootGuest boots a guest with two SR-IOV ports (0000:01:00.0 and .1) and resolves when its agent answers: after about five
 * seconds, twenty with systemd, and several times longer on a loaded host. Usage: `await using guest = await bootGuest({ udev: true })`
 */
import { createProgress, type Progress } from "@switchyard/testing";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentConnection } from "./agent-connection.ts";
import { Guest, settledBefore } from "./guest.ts";
import { reportHang } from "./hang-report.ts";
import { packInitrd } from "../image/initrd.ts";
import { ensureLab } from "../image/lab.ts";
import { machineFor, labOf, type MachineOptions } from "../qemu/machine-options.ts";
import { qemuArguments } from "../qemu/qemu-arguments.ts";
import { startQemu } from "../qemu/qemu-process.ts";
import { VmLabError } from "../vm-lab-error.ts";

export interface BootOptions extends MachineOptions {
  /** Environment variables of all processes that the host starts. */
  readonly env?: Readonly<Record<string, string>>;
  /** Limit of the boot; ten minutes by default, because a loaded machine takes many times as long. */
  readonly bootTimeoutMs?: number;
  /** File for the output of the serial console. By default, it is deleted with the guest. */
  readonly consoleLog?: string;
  /** Aborts the boot. It has no effect after the boot. */
  readonly signal?: AbortSignal;
  /** Shows the progress of a build; on stderr by default. */
  readonly progress?: Progress;
}

/**
 * Boots that are tried if QEMU 10.0 fails in one: with two emulated processors it sometimes loses a timer, and with an emulated
 * IOMMU it sometimes fails its own assertion in iotlb_to_section. What has run in a guest cannot be repeated, so only boots are.
 */
const mostBoots = 3;

const faultsOfQemu: ReadonlySet<string> = new Set(["qemu-aborted", "guest-stalled"]);

/** Rejects with VmLabError: `qemu-missing`, `not-built`, `boot-timed-out`, `guest-panicked` and so on. */
export async function bootGuest(options: BootOptions = {}): Promise<Guest> {
  for (let boots = 1; ; boots++) {
    try {
      return await bootOnce(options);
    } catch (error) {
      if (!(error instanceof VmLabError) || !faultsOfQemu.has(error.code) || boots === mostBoots) throw error;
      process.stderr.write(`[vm-lab] QEMU failed while the guest booted; booting again: ${error.message}\n`);
    }
  }
}

async function bootOnce(options: BootOptions): Promise<Guest> {
  const { boot = "fast", bootTimeoutMs = 600_000, signal = new AbortController().signal } = options;
  const lab = await ensureLab(labOf(options), options.progress ?? createProgress({ name: "vm-lab" }));

  await using parts = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "switchyard-vm-"));
  parts.defer(() => rm(directory, { recursive: true, force: true }));
  const consoleLog = options.consoleLog ?? join(directory, "console.log");
  const agentSocket = join(directory, "agent.sock");
  const initrd = join(directory, "initrd");
  await writeFile(initrd, await packInitrd(lab));
  const machine = await machineFor(options, lab, initrd, { agentSocket });

  const server = createServer().listen(agentSocket);
  parts.defer(() => void server.close());
  await once(server, "listening");
  const connected = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const qemu = parts.use(startQemu(lab.qemu, qemuArguments(machine), consoleLog));
  const agent = new AgentConnection(await Promise.race([connected, qemu.failure]));
  qemu.failure.catch((error: unknown) => {
    agent.lose(error);
  });

  const guest = new Guest({
    agent,
    qemu,
    consoleLog,
    bootTimeoutMs,
    env: options.env ?? {},
    reportHang,
    ...(boot === "fast" ? fastBoot : systemdBoot),
    owned: parts.move(),
  });
  try {
    await settledBefore(guest.nextBoot(), signal, () => {
      return new VmLabError("aborted", "the boot was aborted by the caller", { cause: signal.reason });
    });
    await rm(initrd); // QEMU has read it; this leaves fewer files if the host process is killed
    return guest;
  } catch (error) {
    await guest.kill();
    throw error;
  }
}

const fastBoot = { rebootCommand: "sync; busybox reboot -f", settledCommand: "true" };
/** The state "degraded" also counts as booted, because a test can be about a failing unit. */
const systemdBoot = {
  rebootCommand: "systemctl reboot",
  settledCommand: "systemctl is-system-running --wait; udevadm settle",
};
