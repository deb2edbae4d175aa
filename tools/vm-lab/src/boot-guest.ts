// SPDX-License-Identifier: Apache-2.0
/**
 * Boots a guest with two SR-IOV ports (0000:01:00.0 and .1) and hands it over when its agent answers: in about five seconds, or
 * twenty with systemd; several times that on a loaded host. Usage: `await using guest = await bootGuest({ udev: true })`
 */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentConnection } from "./agent-connection.ts";
import { Guest } from "./guest.ts";
import { packInitrd } from "./initrd.ts";
import { ensureLab } from "./lab.ts";
import { machineFor, needsModules, type MachineOptions } from "./machine-options.ts";
import { createProgress, type Progress } from "./progress.ts";
import { qemuArguments } from "./qemu-arguments.ts";
import { startQemu } from "./qemu-process.ts";
import { settledBefore } from "./time-limit.ts";
import { VmLabError } from "./vm-lab-error.ts";

export interface BootOptions extends MachineOptions {
  /** Added to the environment of all processes that the host starts. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long a boot may take: three minutes unless told. */
  readonly bootTimeoutMs?: number;
  /** A file to keep the serial console in; else it goes when the guest does. */
  readonly consoleLog?: string;
  /** Gives the boot up. Afterwards it has no effect: dispose of the guest. */
  readonly signal?: AbortSignal;
  /** Where a build on the way is told of: stderr unless given. */
  readonly progress?: Progress;
}

/** Rejects with VmLabError: `qemu-missing`, `not-built`, `boot-timed-out`, `guest-panicked` and so on. */
export async function bootGuest(options: BootOptions = {}): Promise<Guest> {
  const { boot = "fast", bootTimeoutMs = 180_000, signal = new AbortController().signal } = options;
  const lab = await ensureLab({ withModules: needsModules(options), progress: options.progress ?? createProgress() });

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
  const qemu = parts.use(startQemu(qemuArguments(machine), consoleLog));
  const agent = new AgentConnection(await Promise.race([connected, qemu.failure]));
  qemu.failure.catch((error: unknown) => {
    agent.lose(error);
  });

  const guest = new Guest({
    ...{ agent, qemu, consoleLog, bootTimeoutMs, env: options.env ?? {} },
    ...(boot === "fast" ? fastBoot : systemdBoot),
    owned: parts.move(),
  });
  try {
    await settledBefore(guest.nextBoot(), signal, () => {
      return new VmLabError("aborted", "the boot was given up by its caller", { cause: signal.reason });
    });
    await rm(initrd); // QEMU has it in memory; of a guest whose host process is killed, little is left
    return guest;
  } catch (error) {
    await guest.kill();
    throw error;
  }
}

const fastBoot = { rebootCommand: "sync; busybox reboot -f", settledCommand: "true" };
/** `degraded` is an answer too: a test may be about the unit that fails. */
const systemdBoot = {
  rebootCommand: "systemctl reboot",
  settledCommand: "systemctl is-system-running --wait; udevadm settle",
};
