// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run control-plane` runs a real API server on loopback, in the foreground until Ctrl-C or in the background.
 * command-line.ts defines the flags.
 */
import { cachePath } from "@switchyard/testing/user-cache";
import { spawn } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  binariesFor,
  ensureBinaries,
  eventually,
  findWorkspaceRoot,
  startControlPlane,
  TestingError,
  withFileLock,
} from "@switchyard/testing";
import { announce, findRunning, type Whereabouts } from "./background.ts";
import { helpText, parseCommandLine, renderCommandLine, type StartCommand } from "./command-line.ts";

const misused = 64; // EX_USAGE
const directory = cachePath("control-plane");
const backgroundLog = join(directory, "background.log");
/** Path of the socket of the background process. Set in its environment only. */
const socketVariable = "SWITCHYARD_CONTROL_PLANE_SOCKET";
const socketPath = join(directory, "background.sock");

// Not process.exitCode: the client that asked this process to stop keeps a connection open until the process ends.
process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  const command = parseCommandLine(args);
  try {
    switch (command.verb) {
      case "help":
        console.log(helpText);
        return 0;
      case "misused":
        console.error(`control-plane: ${command.why} (see --help)`);
        return misused;
      case "stop":
        return await stop();
      case "start":
        return await (command.detach ? startInBackground(command) : serve(command));
    }
  } catch (error) {
    if (!(error instanceof TestingError)) throw error;
    console.error(error.message);
    return 1;
  }
}

/** Runs until a signal, `stop`, or a failure of the control plane. */
async function serve(command: StartCommand): Promise<number> {
  const binaries = await ensureBinaries({ names: binariesFor(command) });
  const asked = Promise.withResolvers<"end">();
  const end = () => {
    asked.resolve("end");
  };
  process.once("SIGINT", end).once("SIGTERM", end).once("SIGHUP", end);
  const { controllerManager, auditLog, crds, dataDir } = command;
  await using controlPlane = await startControlPlane({
    binaries,
    controllerManager,
    auditLog,
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  const crdDirectory = join(findWorkspaceRoot(), "charts/switchyard/crds");
  if (crds && existsSync(crdDirectory)) await controlPlane.applyCrds(crdDirectory);

  const path = process.env[socketVariable];
  const announced = path === undefined ? undefined : await announce(path, controlPlane, end);
  show(controlPlane, "Press Ctrl-C to stop it.");
  const outcome = await Promise.race([asked.promise, controlPlane.failed]);
  announced?.close();
  if (outcome !== "end") throw outcome;
  return 0;
}

/** Runs `serve` in a background process and returns when it is ready. A second start finds the running process. */
async function startInBackground(command: StartCommand): Promise<number> {
  await ensureBinaries({ names: binariesFor(command) }); // in this process, so that the user sees the progress
  await mkdir(directory, { recursive: true });
  return withFileLock(join(directory, "background.lock"), {}, async () => {
    if (await showRunning("It was already running.")) return 0;
    const log = openSync(backgroundLog, "w");
    const child = spawn(process.execPath, [import.meta.filename, ...renderCommandLine(command)], {
      detached: true,
      stdio: ["ignore", log, log],
      env: { ...process.env, [socketVariable]: socketPath },
    });
    const isDecided = async () => child.exitCode !== null || (await showRunning("It is running in the background."));
    await eventually("the control plane in the background", isDecided, { withinMs: 5 * 60_000 });
    if (child.exitCode === null) return 0;
    console.error(await readFile(backgroundLog, "utf8"));
    return 1;
  });
}

async function stop(): Promise<number> {
  const running = await findRunning(socketPath);
  await running?.stop();
  console.error(running === undefined ? "No control plane is running in the background." : "Stopped.");
  return 0;
}

async function showRunning(note: string): Promise<boolean> {
  const running = await findRunning(socketPath);
  running?.release();
  if (running !== undefined) show(running.whereabouts, `${note} Stop it with \`npm run control-plane -- stop\`.`);
  return running !== undefined;
}

function show({ server, kubeconfig }: Whereabouts, note: string): void {
  console.error(`Kubernetes API at ${server}. ${note}`);
  console.log(`export KUBECONFIG=${kubeconfig}`);
}
