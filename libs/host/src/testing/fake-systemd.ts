// SPDX-License-Identifier: Apache-2.0
/**
 * Implements systemd of the fake kernel: the unit files on its disk, which units run, and reboots. systemd knows the content of
 * unit files as of the last reload.
 */
import { checkUnitName } from "../linux/system/linux-systemd.ts";
import type { Systemd } from "../ports/system-services.ts";
import type { FakeFiles } from "./fake-files.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeSystemdDeps {
  readonly files: FakeFiles;
  /** Called for each reboot that the daemon requests. The machine runs on until the test reboots it. */
  readonly onReboot: (reason: string) => void;
}

export interface FakeSystemd {
  readonly port: Systemd;
  /** Simulates the start of systemd: it reads all unit files and starts the enabled units. */
  boot(): void;
}

const directories = ["/etc/systemd/system", "/usr/lib/systemd/system"];
const wants = /^\s*WantedBy\s*=\s*(\S+)\s*$/m;

export function createFakeSystemd({ files, onReboot }: FakeSystemdDeps): FakeSystemd {
  /** Text of each unit file that systemd has loaded. */
  const loaded = new Map<string, string>();
  const active = new Set<string>();
  const failed = new Set<string>();

  function fileOf(name: string): string | undefined {
    return directories.map((directory) => files.readText(`${directory}/${name}`)).find((text) => text !== undefined);
  }

  /** The link that enables the unit. */
  function linkOf(name: string): string | undefined {
    const target = wants.exec(fileOf(name) ?? "")?.[1];
    return target === undefined ? undefined : `/etc/systemd/system/${target}.wants/${name}`;
  }

  function reload(): void {
    loaded.clear();
    for (const path of files.list()) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      const text = directories.includes(path.slice(0, path.lastIndexOf("/"))) ? fileOf(name) : undefined;
      if (text !== undefined) loaded.set(name, text);
    }
  }

  function enabledState(name: string): string {
    if (fileOf(name) === undefined) return "";
    const link = linkOf(name);
    if (link === undefined) return "static";
    return files.list().includes(link) ? "enabled" : "disabled";
  }

  function linkedUnits(name: string): readonly string[] {
    return files.list().filter((path) => path.includes(".wants/") && path.endsWith(`/${name}`));
  }

  /** A unit that is not loaded yet is loaded on demand. */
  function isLoaded(name: string): boolean {
    const text = loaded.get(name) ?? fileOf(name);
    if (text !== undefined) loaded.set(name, text);
    return text !== undefined;
  }

  /** The program /bin/false fails, as everywhere. */
  function start(name: string): void {
    active.delete(name);
    failed.delete(name);
    const fails = /^ExecStart=\/bin\/false$/m.test(loaded.get(name) ?? "");
    (fails ? failed : active).add(name);
    if (fails) throw new Refusal("JOB_FAILED", 'the result of the job is "failed"');
  }

  function stateOf(name: string): string {
    if (failed.has(name)) return "failed";
    return active.has(name) ? "active" : "inactive";
  }

  return {
    boot() {
      failed.clear();
      active.clear();
      reload();
      for (const name of loaded.keys()) if (enabledState(name) === "enabled") active.add(name);
    },
    port: {
      readUnit: (name) =>
        answer(() => {
          checkUnitName(name);
          const loadState = isLoaded(name) ? "loaded" : "not-found";
          return { loadState, activeState: stateOf(name), unitFileState: enabledState(name) };
        }),
      restartUnit: (name) =>
        answer(() => {
          checkUnitName(name);
          if (!isLoaded(name)) throw new Refusal("NoSuchUnit", `Unit ${name} not found.`);
          start(name);
        }),
      stopUnit: (name) =>
        answer(() => {
          checkUnitName(name);
          active.delete(name);
        }),
      enableUnits: (names) =>
        answer(() => {
          for (const name of names) checkUnitName(name);
          for (const name of names)
            if (fileOf(name) === undefined) throw new Refusal("NoSuchUnit", `Unit ${name} does not exist`);
          for (const name of names) {
            const link = linkOf(name);
            if (link !== undefined) files.link(link, `/etc/systemd/system/${name}`);
          }
          reload();
        }),
      disableUnits: (names) =>
        answer(() => {
          for (const name of names) checkUnitName(name);
          for (const path of names.flatMap(linkedUnits)) files.remove(path);
          reload();
        }),
      reload: () => answer(reload),
      reboot: (reason) =>
        answer(() => {
          onReboot(reason);
        }),
    },
  };
}
