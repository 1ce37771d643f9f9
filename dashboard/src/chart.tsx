import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "./format";
import { Head } from "./ui";

interface Day {
	day: string;
	questions: number;
	requests: number;
}

const height = 200;
const bottom = 24;
const top = 8;

/** Returns a round number that is at least n. */
function round(n: number): number {
	const size = 10 ** Math.floor(Math.log10(Math.max(n, 1)));
	return [1, 2, 4, 5, 8, 10].map((f) => f * size).find((f) => f >= n) ?? 10 * size;
}

/** Bars of questions and other requests by day. The table below them has the same figures, for screen readers too. */
export function Chart({ days }: { days: Day[] }) {
	const figure = useRef<HTMLElement>(null);
	const [width, setWidth] = useState(880);
	useEffect(() => {
		const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.max(entry.contentRect.width, 200)));
		if (figure.current) watch.observe(figure.current);
		return () => watch.disconnect();
	}, []);
	const most = Math.max(round(Math.max(...days.map((d) => d.requests))), 4);
	const marks = [0, most / 2, most];
	const left = 16 + 7 * Math.max(...marks.map((n) => count(n).length)); // a digit has 7 pixels at most
	const y = (n: number) => top + (height - top - bottom) * (1 - n / most);
	const slot = (width - left) / days.length;
	const bar = Math.min(Math.max(slot - 4, 2), 48);
	const every = Math.ceil(days.length / Math.max(Math.floor(width / 96), 1));
	return (
		<figure ref={figure}>
			<svg class="chart" height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Requests by day, at most ${count(Math.max(...days.map((d) => d.requests)))}`}>
				{marks.map((n) => (
					<g key={n}>
						<line x1={left} x2={width} y1={y(n)} y2={y(n)} />
						<text x={left - 8} y={y(n) + 4} text-anchor="end">
							{count(n)}
						</text>
					</g>
				))}
				{days.map((d, i) => {
					const x = left + i * slot + (slot - bar) / 2;
					const asked = Math.min(d.questions, d.requests);
					return (
						<g key={d.day}>
							<title>{`${d.day}: ${count(d.questions)} questions, ${count(d.requests - asked)} other requests`}</title>
							<rect class="more" x={x} width={bar} y={y(d.requests)} height={y(asked) - y(d.requests)} />
							<rect x={x} width={bar} y={y(asked)} height={y(0) - y(asked)} />
							{i % every === 0 && (
								<text x={x + bar / 2} y={height - 8} text-anchor="middle">
									{d.day.slice(5)}
								</text>
							)}
						</g>
					);
				})}
			</svg>
			<details class="small">
				<summary>Figures by day</summary>
				<div class="table">
					<table>
						<Head names={["Day", "Questions", "Other requests"]} numbers={["Questions", "Other requests"]} />
						<tbody>
							{days.map((d) => (
								<tr key={d.day}>
									<td>{d.day}</td>
									<td class="num">{count(d.questions)}</td>
									<td class="num">{count(d.requests - Math.min(d.questions, d.requests))}</td>
								</tr>
							))}
						</tbody>
					</table>
				</div>
			</details>
		</figure>
	);
}
