// SPDX-License-Identifier: Apache-2.0
/**
 * STATUS checks whether an ADD of this network can succeed now. A configuration with `ipam` is for the cluster network,
 * which needs the `bridge` plugin; one without is for network instances, which need zedrouter and the DHCP daemon.
 */
import { waitFor, type Call } from "../state/call.ts";
import { CniError, cniCode, describe, toCniError } from "../request/cni-error.ts";
import { locksIn } from "../state/attachment-record.ts";
import { findPlugin, runDelegate } from "../delegates/delegate.ts";
import { tryLock } from "../state/owner-lock.ts";
import { hasNoListener } from "../process/socket-probe.ts";
import { connectZedrouter } from "../zedrouter/zedrouter-connection.ts";

/** Throws code 50 when an ADD would fail, 51 when in addition connected pods may lose their leases. */
export async function status(call: Call): Promise<void> {
  orNotAvailable("cannot write the state directory", () => {
    tryLock({ dir: locksIn(call.settings.stateDir), name: "status" })?.release();
  });
  await (call.request.conf.raw["ipam"] === undefined ? networkInstanceStatus(call) : clusterStatus(call));
}

async function networkInstanceStatus(call: Call): Promise<void> {
  orNotAvailable("dhcp plugin not found", () => findPlugin("dhcp", call.request.env.path));
  try {
    (await connectZedrouter(call)).close();
  } catch (error) {
    throw notAvailable("zedrouter is not reachable", error);
  }
  const { dhcpSocket } = call.settings;
  if (!(await hasNoListener(dhcpSocket))) return;
  const details = `no process listens on ${dhcpSocket}`;
  throw new CniError(cniCode.limited, "the DHCP daemon is not running", { details });
}

async function clusterStatus(call: Call): Promise<void> {
  const { env, conf } = call.request;
  orNotAvailable("bridge plugin not found", () => findPlugin("bridge", env.path));
  try {
    await runDelegate(
      env,
      { plugin: "bridge", command: "STATUS", conf: conf.raw },
      waitFor(call, call.timeouts.delegate),
    );
  } catch (error) {
    const { code } = toCniError(error);
    // Plugins older than CNI 1.1.0 do not know STATUS.
    if (code === cniCode.incompatibleVersion || code === cniCode.invalidEnvironment) return;
    throw code === cniCode.notAvailable || code === cniCode.limited
      ? error
      : notAvailable("bridge plugin is not ready", error);
  }
}

function orNotAvailable(message: string, act: () => unknown): void {
  try {
    act();
  } catch (error) {
    throw notAvailable(message, error);
  }
}

function notAvailable(message: string, cause: unknown): CniError {
  return new CniError(cniCode.notAvailable, message, { details: describe(cause), cause });
}
