// SPDX-License-Identifier: Apache-2.0
/**
 * A real ovsdb-server, and if wanted a real ovs-vswitchd with a dummy datapath, which needs neither root nor a kernel
 * module. Each interface of type "system" or "" becomes a dummy; with `strict`, an unknown one fails.
 * Usage: `await using ovs = await startOpenVswitch({ vswitchd: true }); await ovs.vsctl("add-br", "br0");`
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "../eventually.ts";
import { spawnGuarded, type GuardedProcess } from "../guarded-process.ts";
import { TestingError } from "../testing-error.ts";
import { ensureOpenVswitch, type OpenVswitchPrograms } from "./ensure-open-vswitch.ts";

export interface OpenVswitchOptions {
  /** Also starts ovs-vswitchd. */
  readonly vswitchd?: boolean;
  /** Interfaces without a dummy of their name fail, as a NIC that is not there does: `datapath_type` must be "dummy". */
  readonly strict?: boolean;
  /** Another database than Open_vSwitch: a file with its schema. */
  readonly schema?: string;
}

export interface OpenVswitch extends AsyncDisposable {
  /** The Unix socket of ovsdb-server. */
  readonly socket: string;
  /** "unix:" and the socket. */
  readonly endpoint: string;
  /** For files of the test; removed at the end. */
  readonly directory: string;
  readonly programs: OpenVswitchPrograms;
  /** Runs ovs-vsctl; resolves with its output. It does not wait for ovs-vswitchd unless that was started. */
  vsctl(...args: readonly string[]): Promise<string>;
  /** Runs ovs-appctl with ovsdb-server. */
  serverCtl(...args: readonly string[]): Promise<string>;
  /** Kills ovsdb-server; connections are lost. */
  stopServer(): Promise<void>;
  /** Starts ovsdb-server again, with the same database. */
  startServer(): Promise<void>;
  /** Stops or continues ovsdb-server, which does not answer in between. */
  signalServer(name: "STOP" | "CONT"): Promise<void>;
  stopVswitchd(): Promise<void>;
  startVswitchd(): Promise<void>;
}

export async function startOpenVswitch(options: OpenVswitchOptions = {}): Promise<OpenVswitch> {
  const programs = await ensureOpenVswitch();
  const stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "switchyard-ovs-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const file = (name: string): string => join(directory, name);
  const [socket, database] = [file("db.sock"), file("conf.db")];
  // Without these the programs use directories of the installation, and one daemon would meet another's files.
  const env = { ...programs.env, OVS_RUNDIR: directory, OVS_LOGDIR: directory, OVS_DBDIR: directory };
  const run = async (program: string, ...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(program, args, { env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  };
  const start = (program: string, args: readonly string[]): GuardedProcess => {
    const environment = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const command = ["-i", ...environment, join(programs.sbin, program), ...args];
    return spawnGuarded("/usr/bin/env", command, { log: file(`${program}.log`) });
  };
  await run(join(programs.bin, "ovsdb-tool"), "create", database, options.schema ?? programs.schema);

  let server: GuardedProcess | undefined;
  let daemon: GuardedProcess | undefined;
  stack.defer(async () => {
    await daemon?.kill();
    await server?.kill();
  });
  const ovs: Omit<OpenVswitch, keyof AsyncDisposable> = {
    socket,
    endpoint: `unix:${socket}`,
    directory,
    programs,
    vsctl(...args) {
      const wait = daemon === undefined ? ["--no-wait"] : ["--timeout=60"];
      return run(join(programs.bin, "ovs-vsctl"), `--db=unix:${socket}`, ...wait, ...args);
    },
    serverCtl: (...args) => run(join(programs.bin, "ovs-appctl"), "-t", file("server.ctl"), ...args),
    async startServer() {
      const listen = [`--remote=punix:${socket}`, `--unixctl=${file("server.ctl")}`, `--pidfile=${file("server.pid")}`];
      server = start("ovsdb-server", [database, ...listen, "--log-file=/dev/null"]);
      await answers(server, "ovsdb-server", () =>
        run(join(programs.bin, "ovsdb-client"), "list-dbs", `unix:${socket}`),
      );
    },
    async stopServer() {
      await server?.kill();
      server = undefined;
      await rm(socket, { force: true });
    },
    async signalServer(name) {
      server?.signal(name);
      const pid = (await readFile(file("server.pid"), "utf8")).trim();
      await eventually(`ovsdb-server follows ${name}`, async () => (await isStopped(pid)) === (name === "STOP"));
    },
    async startVswitchd() {
      const dummy = options.strict === true ? "--enable-dummy" : "--enable-dummy=override";
      const flags = [dummy, "--disable-system", "--disable-system-route", `--unixctl=${file("vswitchd.ctl")}`];
      daemon = start("ovs-vswitchd", [...flags, "--log-file=/dev/null", `unix:${socket}`]);
      await answers(daemon, "ovs-vswitchd", () =>
        run(join(programs.bin, "ovs-appctl"), "-t", file("vswitchd.ctl"), "version"),
      );
    },
    async stopVswitchd() {
      await daemon?.kill();
      daemon = undefined;
    },
  };
  try {
    await ovs.startServer();
    await ovs.vsctl("init").catch(() => undefined); // only the database Open_vSwitch has what `init` makes
    if (options.vswitchd === true) await ovs.startVswitchd();
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
  return { ...ovs, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function isStopped(pid: string): Promise<boolean> {
  return /\) T /.test(await readFile(`/proc/${pid}/stat`, "utf8"));
}

async function answers(process: GuardedProcess, name: string, ask: () => Promise<unknown>): Promise<void> {
  const works = async (): Promise<boolean> => {
    if (process.hasExited()) throw new TestingError("start", `${name} ended with status ${await process.exited}`);
    return ask().then(
      () => true,
      () => false,
    );
  };
  await eventually(`${name} answers`, works, { withinMs: 60_000 });
}
