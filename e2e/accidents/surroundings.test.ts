// SPDX-License-Identifier: Apache-2.0
/** Accidents of what is around Switchyard. The clock of the operator can be shifted. */
import { afterAll } from "@jest/globals";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { playAccidents } from "./play-accidents.ts";
import { programWithShiftedClock } from "./shifted-clock.ts";
import { surroundings } from "./surroundings.ts";

const clockDirectory = mkdtempSync(join(tmpdir(), "switchyard-clock-"));
afterAll(() => rm(clockDirectory, { recursive: true }));

playAccidents(surroundings(clockDirectory), {
  programOf: (main) => programWithShiftedClock(main, clockDirectory),
});
