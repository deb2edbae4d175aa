// SPDX-License-Identifier: Apache-2.0
/** Accidents of size. */
import { fleets, largestCard } from "./fleets.ts";
import { playAccidents } from "./play-accidents.ts";

playAccidents(fleets, { nics: [largestCard] });
