// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxSystemd implements Systemd with D-Bus on the system bus of the host (org.freedesktop.systemd1(5),
 * org.freedesktop.login1(5)).
 */
import { join } from "node:path";
import { HostError, toHostError, type HostOperation } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { Systemd } from "../../ports/system-services.ts";
import { BusConnection, BusError, busErrors } from "../dbus/bus-connection.ts";
import type { MethodCall } from "../dbus/message.ts";

/** The default limit of libdbus for an answer. */
const answerMs = 25_000;
/** systemd ends a job of a service after 90 s by default, for the stop and for the start. A reload runs all generators. */
const jobMs = 240_000;

const manager = {
  destination: "org.freedesktop.systemd1",
  path: "/org/freedesktop/systemd1",
  interface: "org.freedesktop.systemd1.Manager",
} as const;

const login = {
  destination: "org.freedesktop.login1",
  path: "/org/freedesktop/login1",
  interface: "org.freedesktop.login1.Manager",
} as const;

/** `root` is "/" or "/host". */
export function createLinuxSystemd(root: string): Systemd {
  const socket = join(root, "run/dbus/system_bus_socket");
  const { systemd: operation } = operations;

  /** Runs `act` with a connection of its own, and converts its errors. */
  async function withBus<Value>(
    at: HostOperation,
    timeoutMs: number,
    act: (bus: BusConnection) => Promise<Value>,
  ): Promise<Value> {
    try {
      using bus = await BusConnection.open(socket, { timeoutMs });
      return await act(bus);
    } catch (error) {
      if (error instanceof BusError) throw new HostError(at, codeOf(error), { words: error.message, cause: error });
      throw toHostError(at, error);
    }
  }

  /** Starts a job of a unit and waits for its result. */
  async function runJob(at: HostOperation, member: "RestartUnit" | "StopUnit", name: string): Promise<void> {
    checkUnitName(name);
    await withBus(at, jobMs, async (bus) => {
      const results = new Map<unknown, unknown>();
      // systemd sends JobRemoved only to connections that are subscribed.
      await bus.call({ ...manager, member: "Subscribe" });
      const { destination: sender, interface: type } = manager;
      await bus.listen(`type='signal',sender='${sender}',interface='${type}',member='JobRemoved'`, (signal) => {
        if (signal.member === "JobRemoved") results.set(signal.body[1], signal.body[3]);
      });
      const [job] = await bus.call({ ...manager, member, signature: "ss", body: [name, "replace"] });
      await bus.whenOver(() => results.has(job));
      const result = results.get(job);
      if (result !== "done")
        throw new HostError(at, "JOB_FAILED", { words: `the result of the job is "${String(result)}"` });
    });
  }

  return {
    async readUnit(name) {
      checkUnitName(name);
      return await withBus(operation.readUnit(name), answerMs, async (bus) => {
        const [path] = await bus.call({ ...manager, member: "LoadUnit", signature: "s", body: [name] });
        const [properties] = await bus.call({
          destination: manager.destination,
          path: String(path),
          interface: "org.freedesktop.DBus.Properties",
          member: "GetAll",
          signature: "s",
          body: ["org.freedesktop.systemd1.Unit"],
        });
        const text = (property: string): string => {
          const value: unknown = properties instanceof Map ? properties.get(property) : undefined;
          return typeof value === "string" ? value : "";
        };
        return {
          loadState: text("LoadState"),
          activeState: text("ActiveState"),
          unitFileState: text("UnitFileState"),
        };
      });
    },
    restartUnit: (name) => runJob(operation.restartUnit(name), "RestartUnit", name),
    async stopUnit(name) {
      await runJob(operation.stopUnit(name), "StopUnit", name).catch((error: unknown) => {
        if (!(error instanceof HostError && error.code === "NoSuchUnit")) throw error;
      });
    },
    async enableUnits(names) {
      for (const name of names) checkUnitName(name);
      await withBus(operation.enableUnits(names), jobMs, async (bus) => {
        // Not only for this boot, and without replacing links to other files.
        await bus.call({ ...manager, member: "EnableUnitFiles", signature: "asbb", body: [names, false, false] });
        await bus.call({ ...manager, member: "Reload" });
      });
    },
    async disableUnits(names) {
      for (const name of names) checkUnitName(name);
      await withBus(operation.disableUnits(names), jobMs, async (bus) => {
        // One call for each unit: systemd 257 refuses all of them if one does not exist.
        for (const name of names) {
          const call = { ...manager, member: "DisableUnitFiles", signature: "asb", body: [[name], false] };
          await bus.call(call).catch(ignoreMissingUnit);
        }
        await bus.call({ ...manager, member: "Reload" });
      });
    },
    reload: () =>
      withBus(operation.reload(), jobMs, async (bus) => {
        await bus.call({ ...manager, member: "Reload" });
      }),
    reboot: (reason) => withBus(operation.reboot(reason), answerMs, (bus) => reboot(bus, reason)),
  };
}

/**
 * Reboots through logind: it tells the kubelet (graceful node shutdown) and all other programs that delay a shutdown, and lets
 * them end their pods first. systemd alone stops all units in the reverse order of their start; it is used only if the host has
 * no logind.
 */
async function reboot(bus: BusConnection, reason: string): Promise<void> {
  try {
    await bus.call({ ...login, member: "SetWallMessage", signature: "sb", body: [reason, true] }).catch(ignoreBusError);
    await bus.call({ ...login, member: "Reboot", signature: "b", body: [false] });
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    if (isUnderWay.has(error.code)) return;
    if (!isWithoutLogind(error)) throw error;
    const body = ["reboot.target", "replace-irreversibly"];
    await bus.call({ ...manager, member: "StartUnit", signature: "ss", body } satisfies MethodCall);
  }
}

// The connection ends when the machine shuts down quickly.
const isUnderWay: ReadonlySet<string> = new Set(["org.freedesktop.login1.OperationInProgress", busErrors.disconnected]);

function isWithoutLogind({ code }: BusError): boolean {
  const unknown = ["org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner"];
  const inactive = ["org.freedesktop.systemd1.NoSuchUnit", "org.freedesktop.systemd1.UnitMasked"];
  return [...unknown, ...inactive].includes(code) || code.startsWith("org.freedesktop.DBus.Error.Spawn.");
}

function ignoreMissingUnit(error: unknown): void {
  if (!(error instanceof BusError && error.code === "org.freedesktop.systemd1.NoSuchUnit")) throw error;
}

/** The reboot matters more than its message. */
function ignoreBusError(error: unknown): void {
  if (!(error instanceof BusError)) throw error;
}

/** Returns the name of the errno where sd-bus has translated one, and else the last part of the name of the error. */
function codeOf({ code }: BusError): string {
  const known = errnos.get(code);
  return known ?? code.slice(code.lastIndexOf(".") + 1);
}

const errnos: ReadonlyMap<string, string> = new Map([
  ["org.freedesktop.DBus.Error.FileNotFound", "ENOENT"],
  ["org.freedesktop.DBus.Error.FileExists", "EEXIST"],
  ["org.freedesktop.DBus.Error.AccessDenied", "EACCES"],
  ["org.freedesktop.DBus.Error.InvalidArgs", "EINVAL"],
  ["org.freedesktop.DBus.Error.NoMemory", "ENOMEM"],
  [busErrors.timeout, "ETIMEDOUT"],
  [busErrors.disconnected, "ECONNRESET"],
]);

const name = /^[\w:.\\-]{1,200}(@[\w:.\\-]{0,50})?\.(service|socket|target|mount|timer|path|slice)$/;

/**
 * checkUnitName validates the name of a systemd unit (systemd.unit(5)), because systemd also accepts paths and globs. mountUnitName
 * returns the name of the unit that systemd has for a mount.
 * Throws HostError EINVAL if the value cannot be the name of a unit. The message contains the value.
 */
export function checkUnitName(value: string): void {
  if (name.test(value)) return;
  const shown = JSON.stringify(value.slice(0, 64));
  throw new HostError({ action: "look up systemd unit", target: shown }, "EINVAL", {});
}

/** Returns the unit of a mount point (systemd-escape --path): an absolute path of ASCII characters, in its shortest form. */
export function mountUnitName(path: string): string {
  const escape = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const parts = path.slice(1).split("/");
  return `${parts.map((part) => part.replaceAll(/[^\w:.]/g, escape)).join("-")}.mount`;
}
