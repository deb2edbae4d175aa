// SPDX-License-Identifier: Apache-2.0
import { isUnicast, parseMacAddress } from "@switchyard/api";
import { HostError } from "@switchyard/host";
import type { AfxdpStep } from "@switchyard/plan";
import { mapConcurrently } from "@switchyard/service";
import { removeFromOvs } from "./representors.ts";
import { runEach, type AfxdpStepContext, type StepOutcomes } from "./step-context.ts";

/**
 * Activates the subfunctions, and waits for their interfaces, which drivers create later, and for the names by udev. It
 * waits once for all of them, because each wait for udev takes as long as all events that are pending.
 */
export async function activateSubfunctions(
  steps: readonly AfxdpStep<"activate-subfunction">[],
  context: AfxdpStepContext,
  outcomes: StepOutcomes,
): Promise<void> {
  const { host, pf, device, signal, timing, portOf, changed, waitForAll } = context;
  const requested: StepOutcomes = new Map();
  await runEach(steps, { outcomes: requested, signal }, async ({ sfNumber }) => {
    await host.subfunctions.setActive(pf(), await portOf(sfNumber), true);
  });
  changed();
  const begun = steps.filter((step) => requested.has(step));
  const active = begun.filter((step) => requested.get(step) === undefined);
  const numbers = active.map(({ sfNumber }) => sfNumber);
  if (numbers.length > 0) await waitForAll(numbers, (one) => one?.netdev !== undefined || one?.driver !== undefined);
  const errors = await enableEthernet(numbers, context);
  const expected = numbers.filter((sfNumber) => !errors.has(sfNumber));
  const missing = new Set(expected.length === 0 ? [] : await waitForAll(expected, (one) => one?.netdev !== undefined));
  await context.settle();
  changed(); // the names
  for (const step of begun) {
    const { sfNumber } = step;
    outcomes.set(step, missing.has(sfNumber) ? noInterface(step) : (errors.get(sfNumber) ?? requested.get(step)));
  }

  function noInterface({ sfNumber }: AfxdpStep<"activate-subfunction">): HostError {
    const target = `subfunction ${sfNumber} of ${device}`;
    const words = `its driver has created none after ${timing.linkTimeoutMs / 1000} s`;
    return new HostError({ action: "wait for network interface", target }, "ETIMEDOUT", { words });
  }
}

/** Subfunctions whose drivers are told at the same time to create interfaces. Each takes a second with mlx5_core. */
const maxReloads = 8;

/** Makes drivers create the interfaces that they do not create by themselves. Returns the errors by the number of the subfunction. */
async function enableEthernet(
  sfNumbers: readonly number[],
  { host, findSubfunction, changed }: AfxdpStepContext,
): Promise<ReadonlyMap<number, unknown>> {
  const errors = new Map<number, unknown>();
  const bound: { readonly sfNumber: number; readonly device: string }[] = [];
  for (const sfNumber of sfNumbers) {
    const { device, driver, netdev } = (await findSubfunction(sfNumber)) ?? {};
    if (device !== undefined && driver !== undefined && netdev === undefined) bound.push({ sfNumber, device });
  }
  await mapConcurrently(bound, maxReloads, async ({ sfNumber, device }) => {
    await host.subfunctions.enableEthernet(device).catch((error: unknown) => errors.set(sfNumber, error));
  });
  changed();
  return errors;
}

/** Deactivates the subfunctions, and waits until their devices are gone. If a device stays, the driver refuses the next step. */
export async function deactivateSubfunctions(
  steps: readonly AfxdpStep<"deactivate-subfunction">[],
  { host, pf, signal, portOf, changed, waitForAll }: AfxdpStepContext,
  outcomes: StepOutcomes,
): Promise<void> {
  await runEach(steps, { outcomes, signal }, async ({ sfNumber }) => {
    await host.subfunctions.setActive(pf(), await portOf(sfNumber), false);
  });
  changed();
  const inactive = steps
    .filter((step) => outcomes.has(step) && outcomes.get(step) === undefined)
    .map(({ sfNumber }) => sfNumber);
  if (inactive.length > 0) await waitForAll(inactive, (one) => one?.operationalState !== "attached");
}

/** Creates the subfunction unless a daemon that was killed has created it. */
export async function createSubfunction(
  { sfNumber }: AfxdpStep<"create-subfunction">,
  { host, pf, findSubfunction, changed, refusesSubfunctions }: AfxdpStepContext,
): Promise<void> {
  try {
    changed({ sfNumber, portIndex: await host.subfunctions.create(pf(), sfNumber) });
  } catch (error) {
    if (error instanceof HostError && error.code === "EOPNOTSUPP") refusesSubfunctions();
    const isInUse = error instanceof HostError && (error.code === "EBUSY" || error.code === "EEXIST");
    if (!isInUse) throw error;
    changed();
    if ((await findSubfunction(sfNumber)) === undefined) throw error;
  }
}

/** Deletes the subfunction if it exists. The ports of the others stay what they are. */
export async function deleteSubfunction(
  { sfNumber }: AfxdpStep<"delete-subfunction">,
  { host, pf, findSubfunction }: AfxdpStepContext,
): Promise<void> {
  const one = await findSubfunction(sfNumber);
  if (one === undefined) return;
  if (one.representor !== undefined) await removeFromOvs(one.representor, host);
  try {
    await host.subfunctions.remove(pf(), one.portIndex);
  } catch (error) {
    if (!(error instanceof HostError && error.code === "ENODEV")) throw error;
  }
}

/** Gives the subfunction its recorded address. A driver that chooses the addresses keeps its own. */
export async function setSubfunctionMac(
  { sfNumber }: AfxdpStep<"set-subfunction-mac">,
  context: AfxdpStepContext,
): Promise<void> {
  const { host, device } = context;
  const mac = parseMacAddress((await context.recordedMac(sfNumber)) ?? "");
  if (!mac.ok || !isUnicast(mac.value)) {
    const words = "the record of the device has none";
    throw new HostError({ action: `look up mac of subfunction ${sfNumber}`, target: device }, "ENOENT", { words });
  }
  try {
    await host.subfunctions.setMac(context.pf(), await context.portOf(sfNumber), mac.value);
  } catch (error) {
    if (!(error instanceof HostError && error.code === "EOPNOTSUPP")) throw error;
  }
}
