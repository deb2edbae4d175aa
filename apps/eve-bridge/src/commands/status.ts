// SPDX-License-Identifier: Apache-2.0
/**
 * STATUS: whether an ADD of this network could succeed now. A configuration with ipam is the cluster's network, which
 * `bridge` serves; one without is for network instances, which need zedrouter and the DHCP daemon.
 * Usage: `await status(call)`.
 */
import { waitFor, type Call } from "./call.ts";
import { CniError, cniCode, describe, toCniError } from "../request/cni-error.ts";
import { locksIn } from "../state/attachment-record.ts";
import { findPlugin, runDelegate } from "../delegates/delegate.ts";
import { tryLock } from "../state/owner-lock.ts";
import { nobodyListens } from "../zedrouter/socket-probe.ts";
import { connectZedrouter } from "../zedrouter/zedrouter-connection.ts";

/** Throws code 50 when an ADD would fail, 51 when besides pods may lose their leases. */
export async function status(call: Call): Promise<void> {
  needed("the state directory cannot be written", () => {
    tryLock({ dir: locksIn(call.settings.stateDir), name: "status" })?.release();
  });
  await (call.request.conf.raw["ipam"] === undefined ? networkInstanceStatus(call) : clusterStatus(call));
}

async function networkInstanceStatus(call: Call): Promise<void> {
  needed("no DHCP plugin", () => findPlugin("dhcp", call.request.env.path));
  try {
    (await connectZedrouter(call)).close();
  } catch (error) {
    throw notAvailable("zedrouter is away", error);
  }
  const { dhcpSocket } = call.settings;
  if (!(await nobodyListens(dhcpSocket))) return;
  throw new CniError(cniCode.limited, "the DHCP daemon is away", { details: `nobody listens on ${dhcpSocket}` });
}

async function clusterStatus(call: Call): Promise<void> {
  const { env, conf } = call.request;
  needed("no bridge plugin", () => findPlugin("bridge", env.path));
  try {
    await runDelegate(
      env,
      { plugin: "bridge", command: "STATUS", conf: conf.raw },
      waitFor(call, call.timeouts.delegate),
    );
  } catch (error) {
    const { code } = toCniError(error);
    // An older one does not know the question.
    if (code === cniCode.incompatibleVersion || code === cniCode.invalidEnvironment) return;
    throw code === cniCode.notAvailable || code === cniCode.limited
      ? error
      : notAvailable("bridge cannot serve", error);
  }
}

function needed(otherwise: string, act: () => unknown): void {
  try {
    act();
  } catch (error) {
    throw notAvailable(otherwise, error);
  }
}

function notAvailable(message: string, cause: unknown): CniError {
  return new CniError(cniCode.notAvailable, message, { details: describe(cause), cause });
}
