// SPDX-License-Identifier: Apache-2.0
/**
 * LocalServers are the processes of a control plane on loopback: etcd, kube-apiserver, and optionally kube-controller-manager
 * and kube-scheduler.
 */
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ControlPlaneServers } from "./control-plane.ts";
import type { ControlPlaneFiles } from "./control-plane-files.ts";
import {
  apiServerFlags,
  components,
  controllerManagerFlags,
  controlPlaneFiles,
  etcdFlags,
  etcdUrl,
  logFile,
  schedulerFlags,
  serverUrl,
  type Component,
  type ControlPlaneLayout,
} from "./control-plane-flags.ts";
import { compactEtcd } from "./etcd.ts";
import { probe } from "./server-requests.ts";
import { eventually } from "../eventually.ts";
import { readEnds, spawnGuarded, type GuardedProcess } from "../guarded-process.ts";
import { TestingError } from "../testing-error.ts";

/** An idle machine needs 3 to 5 s, and 1 s for the controller manager. */
const readyWithinMs = 90_000;
const stopWithinMs = 30_000;

/** Disposing of them kills all processes. */
export class LocalServers implements ControlPlaneServers {
  readonly failed: Promise<TestingError>;
  readonly layout: ControlPlaneLayout;
  readonly #binaries: string;
  readonly #files: ControlPlaneFiles;
  readonly #running = new Map<Component, GuardedProcess>();
  readonly #fail: (error: TestingError) => void;
  #hasFailed = false;

  constructor(binaries: string, layout: ControlPlaneLayout, files: ControlPlaneFiles) {
    this.#binaries = binaries;
    this.layout = layout;
    this.#files = files;
    const { promise, resolve } = Promise.withResolvers<TestingError>();
    this.failed = promise;
    this.#fail = resolve;
  }

  /** Starts all processes and waits until they are ready. */
  async start(): Promise<void> {
    this.#spawn("etcd", etcdFlags(this.layout));
    await this.startApiServer();
    await this.startControllers();
  }

  async startApiServer(): Promise<void> {
    this.#spawn("kube-apiserver", apiServerFlags(this.layout));
    await this.#untilReady("/readyz");
    await this.#untilReady("/api/v1/namespaces/default"); // created after the server reports ready
  }

  /** Starts the controller manager and the scheduler of the layout, if there are any. */
  async startControllers(): Promise<void> {
    if (!this.layout.controllerManager) return;
    this.#spawn("kube-controller-manager", controllerManagerFlags(this.layout));
    if (this.layout.scheduler === true) this.#spawn("kube-scheduler", schedulerFlags(this.layout));
    await this.#untilReady("/api/v1/namespaces/default/serviceaccounts/default");
  }

  async killControllers(): Promise<void> {
    await Promise.all([this.#take("kube-controller-manager")?.kill(), this.#take("kube-scheduler")?.kill()]);
  }

  async stopApiServer(): Promise<void> {
    const server = this.#take("kube-apiserver");
    server?.signal("TERM");
    const timer = setTimeout(() => void server?.kill(), stopWithinMs);
    await server?.exited;
    clearTimeout(timer);
  }

  async killApiServer(): Promise<void> {
    await this.#take("kube-apiserver")?.kill();
  }

  isApiServerRunning(): boolean {
    return this.#running.has("kube-apiserver");
  }

  /** Whether a process has ended unexpectedly. */
  hasFailed(): boolean {
    return this.#hasFailed;
  }

  async compactEtcd(): Promise<void> {
    await compactEtcd(etcdUrl(this.layout));
  }

  async backUpEtcd(): Promise<() => Promise<void>> {
    const data = join(this.layout.dataDir, controlPlaneFiles.etcdData);
    const backup = `${data}.backup`;
    await this.#take("etcd")?.kill();
    await rm(backup, { recursive: true, force: true });
    await cp(data, backup, { recursive: true });
    this.#spawn("etcd", etcdFlags(this.layout));
    await this.#untilReady("/readyz");
    return async () => {
      await this.killApiServer();
      await this.#take("etcd")?.kill();
      await rm(data, { recursive: true });
      await cp(backup, data, { recursive: true });
      this.#spawn("etcd", etcdFlags(this.layout));
      await this.startApiServer();
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const names = [...this.#running.keys()];
    await Promise.all(names.map(async (name) => this.#take(name)?.kill()));
  }

  #spawn(component: Component, flags: readonly string[]): void {
    if (this.#running.has(component)) throw new TestingError("start", `${component} is already running`);
    const started = spawnGuarded(join(this.#binaries, component), flags, { log: logFile(this.layout, component) });
    this.#running.set(component, started);
    const ended = async () => {
      if (this.#running.get(component) !== started) return;
      this.#hasFailed = true;
      this.#fail(await this.#report(`${component} ended`));
    };
    started.exited.then(ended, ended);
  }

  /** Returns the process. Its end is not a crash from now on. */
  #take(component: Component): GuardedProcess | undefined {
    const found = this.#running.get(component);
    this.#running.delete(component);
    return found;
  }

  async #untilReady(path: string): Promise<void> {
    const crashed = new AbortController();
    void this.failed.then((error) => {
      crashed.abort(error);
    });
    const isReady = async () => (await probe(serverUrl(this.layout) + path, this.#files.admin)) === 200;
    try {
      await eventually(path, isReady, { withinMs: readyWithinMs, signal: crashed.signal });
    } catch (error) {
      throw crashed.signal.aborted
        ? await this.failed
        : await this.#report(`no 200 on ${path} within ${readyWithinMs} ms`, error);
    }
  }

  async #report(what: string, cause?: unknown): Promise<TestingError> {
    const ends = await readEnds(components.map((each) => logFile(this.layout, each)));
    const text = [`control plane in ${this.layout.dataDir}: ${what}`, ...ends].join("\n");
    return new TestingError("start", text, { cause });
  }
}
