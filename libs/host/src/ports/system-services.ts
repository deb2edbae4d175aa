// SPDX-License-Identifier: Apache-2.0
import type { PciAddress } from "@switchyard/api";

/**
 * Systemd is the port for the service manager of the host. Names of units include their type: "openvswitch-switch.service".
 * Rejects with HostError only: EINVAL for a name that no unit can have, ENOENT or ECONNREFUSED without a system bus,
 * and ETIMEDOUT. Otherwise the code is the last part of the name of systemd's error ("NoSuchUnit", "UnitMasked"), with
 * its message in `words`.
 */
export interface Systemd {
  /** Returns the state of a unit. A unit that does not exist has the load state "not-found". */
  readUnit(name: string): Promise<UnitState>;
  /** Starts or restarts the unit, and waits for the result. JOB_FAILED if the unit does not start; NoSuchUnit. */
  restartUnit(name: string): Promise<void>;
  /** Stops the unit and waits for the result. No error if it is not running or does not exist. */
  stopUnit(name: string): Promise<void>;
  /** Enables the units, also for the next boots. Does not start them. NoSuchUnit if a unit has no file. */
  enableUnits(names: readonly string[]): Promise<void>;
  /** Disables the units. Does not stop them. No error if a unit is not enabled or does not exist. */
  disableUnits(names: readonly string[]): Promise<void>;
  /** Reads all unit files again. Required after a unit file was written or removed. */
  reload(): Promise<void>;
  /**
   * Starts a reboot of the machine. `reason` is sent to the users and to the journal. Resolves while the machine shuts down,
   * and also if a reboot is running already.
   */
  reboot(reason: string): Promise<void>;
}

/** The state of a unit, in systemd's words. */
export interface UnitState {
  /** "loaded", "not-found", "masked", "bad-setting", "error". */
  readonly loadState: string;
  /** "active", "inactive", "activating", "deactivating", "failed", "reloading". */
  readonly activeState: string;
  /** "enabled", "disabled", "static", "masked", "generated"; "" if the unit has no file. */
  readonly unitFileState: string;
}

/** Udev is the port for udev, which names network interfaces after the kernel has created them. */
export interface Udev {
  /**
   * Resolves when udev has handled all events; at once if udev does not run. Rejects with HostError ETIMEDOUT, and with the
   * reason of the signal when it aborts.
   */
  settle(options: SettleOptions): Promise<void>;
  /**
   * Makes udev read its rules again, and resolves when it has. At once if udev does not run. Without this call, udev notices
   * changed files at the next event, but not within three seconds after its last check (systemd 257).
   */
  reloadRules(): Promise<void>;
}

export interface SettleOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /**
   * Does not wait for the events of other devices once the interfaces of this PF and of its VFs have their final names, and each
   * VF has a driver and an interface. As long as a VF lacks one, udev may yet load its driver, and all events are waited for.
   */
  readonly pf?: PciAddress;
}
