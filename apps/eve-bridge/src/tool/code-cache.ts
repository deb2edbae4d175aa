// SPDX-License-Identifier: Apache-2.0
/**
 * writeCodeCache writes V8's code cache for a version that is being installed. It runs an ADD of that version in a
 * process of its own, against a fake zedrouter that accepts it, and the program then writes what V8 has compiled.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { CniError, cniCode } from "../request/cni-error.ts";
import { isObject, parseJson } from "../request/json.ts";
import { cacheName, type Command } from "./launcher.ts";
import { runCommand } from "../process/run-command.ts";
import { settingsVariable, type Settings } from "../request/settings.ts";

const ifName = "net1";
const addMs = 30_000;

/** Writes the cache into `dir`. `command` starts the program in `dir`. Throws when the ADD fails. */
export async function writeCodeCache(dir: string, command: Command): Promise<void> {
  const scratch = join(dir, "scratch");
  await mkdir(scratch);
  const rpcSocket = join(scratch, "rpc.sock");
  const server = await listen(rpcSocket);
  try {
    const settings: Partial<Settings> = { rpcSocket, stateDir: scratch, logFile: join(scratch, "log") };
    const settingsFile = join(scratch, "settings.json");
    await writeFile(settingsFile, JSON.stringify(settings));
    const [file, ...args] = command;
    const { status, stdout, stderr } = await runCommand(file, [...args, "--write-code-cache", join(dir, cacheName)], {
      env: {
        CNI_COMMAND: "ADD",
        CNI_CONTAINERID: "code-cache",
        CNI_NETNS: dir, // must exist; only zedrouter would enter it
        CNI_IFNAME: ifName,
        CNI_PATH: dir,
        CNI_ARGS: "K8S_POD_NAME=virt-launcher-code-cache;MAC=02:00:00:00:00:01",
        [settingsVariable]: settingsFile,
      },
      stdin: JSON.stringify({ cniVersion: "0.3.1", name: "code-cache", type: "eve-bridge" }),
      timeoutMs: addMs,
    });
    if (status !== 0) {
      const details = stdout.trim() || stderr.trim();
      throw new CniError(cniCode.internal, "the test ADD of the new version failed", { details });
    }
  } finally {
    server.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Answers every request as zedrouter answers ConnectPodAtL2. */
function listen(path: string): Promise<Server> {
  const reply = {
    AppUUID: "00000000-0000-0000-0000-000000000000",
    UseDHCP: true,
    Interfaces: [{ Name: ifName, MAC: "AgAAAAAB", NetNsPath: "/" }],
  };
  const server = createServer((socket) => {
    socket.on("data", (chunk) => {
      const request = parseJson(chunk.toString());
      const id = isObject(request) ? request["id"] : null;
      socket.write(`${JSON.stringify({ id, result: reply, error: null })}\n`);
    });
    socket.on("error", () => undefined); // the program may exit before it reads the answer
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      resolve(server);
    });
  });
}
