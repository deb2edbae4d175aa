// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the config daemon on a real host, and kills it with SIGKILL before or after its first write of each kind that a file does
 * not list yet. A test starts it again until it survives: then it was killed around each kind of write that the change needs.
 * Usage: `node mortal-node.ts --killed-file /var/lib/killed.json --node-name worker-1 --kubeconfig … --namespace …`
 */
import { runDaemon } from "@switchyard/config-daemon/daemon";
import { createLinuxHost } from "@switchyard/host";
import { isWrite, wrapPorts, type PortCall } from "@switchyard/host/testing";
import { connect } from "@switchyard/kube";
import { flag, runService, text } from "@switchyard/service";
import { readFileSync, writeFileSync } from "node:fs";
import { defaultOvsdbAddress } from "../start/ovsdb-address.ts";

const exitCode = await runService({
  name: "config-daemon",
  summary: "The config daemon on a real host, which is killed around its writes.",
  flags: {
    nodeName: flag(text("NAME"), { required: true, env: "NODE_NAME", help: "Name of the node." }),
    hostRoot: flag(text("DIR"), {
      default: "/",
      env: "HOST_ROOT",
      help: "Directory where the file system of the host is mounted.",
    }),
    killedFile: flag(text("FILE"), { required: true, env: "KILLED_FILE", help: "File that lists the kills." }),
  },
  async main({ flags, log, metrics, signal, setNotReady, setNotAlive }) {
    const { nodeName, namespace, hostRoot, killedFile, maxCacheAge: maxCacheAgeMs } = flags;
    await using transport = await connect({ kubeconfig: flags.kubeconfig });
    await using host = createLinuxHost(hostRoot, {
      onUnreadableRecord: () => undefined,
      ovsdbAddress: defaultOvsdbAddress,
    });
    const killed = new Set(readKills(killedFile));

    /** The list is on the disk before the process ends, because the next process reads it. */
    function killOnce(kill: string): void {
      if (killed.has(kill)) return;
      writeFileSync(killedFile, [...killed, kill].map((line) => `${line}\n`).join(""), { flush: true });
      process.kill(process.pid, "SIGKILL");
    }

    /** A write that ends in a kill. Others wait: were they done by then, the next process would not repeat them to be killed. */
    let isDying = false;
    const killedAtWrite = wrapPorts(host, (call, proceed) => {
      if (!isWrite(call)) return proceed();
      const kind = kindOf(call);
      if (killed.has(`before ${kind}`) && killed.has(`after ${kind}`)) return proceed();
      if (isDying) return new Promise(() => undefined);
      killOnce(`before ${kind}`);
      isDying = true;
      return finish(proceed, () => {
        killOnce(`after ${kind}`);
      });
    });
    await runDaemon({
      transport,
      host: killedAtWrite,
      nodeName,
      namespace,
      maxPfs: 4,
      maxCacheAgeMs,
      log,
      metrics,
      setNotReady,
      setNotAlive,
      signal,
    });
  },
});

process.exit(exitCode);

function readKills(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n");
  } catch {
    return []; // the first start
  }
}

/** Files differ by their path. Names of PFs are left out. */
function kindOf({ port, method, args: [target] }: PortCall): string {
  const path = port === "files" && typeof target === "string" ? ` ${target.replace(/[0-9a-f]{4}[:_].*$/, "")}` : "";
  return `${port}.${method}${path}`;
}

/** Calls `then` also if the host refuses the write. */
async function finish(proceed: () => unknown, then: () => void): Promise<unknown> {
  try {
    return await proceed();
  } finally {
    then();
  }
}
