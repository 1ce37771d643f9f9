var s=globalThis.trustedTypes,i=s?.createPolicy("read-html-file",{createHTML:t=>t})??{createHTML:t=>t},a=new Set(["SCRIPT","STYLE","NOSCRIPT","TEMPLATE","NAV","HEADER","FOOTER","ASIDE","FORM","IFRAME","SVG","HEAD"]);function l(t){let e=new DOMParser().parseFromString(i.createHTML(t),"text/html"),n=e.querySelector("main, article")??e.body;return{title:e.title.trim()||(e.querySelector("h1")?.textContent??"").trim(),body:r(n).replace(/\n{3,}/g,`

`).trim()}}function r(t){let e="";for(let n of t.childNodes)n instanceof Element?e+=o(n):n.nodeType===Node.TEXT_NODE&&(e+=(n.textContent??"").replace(/\s+/g," "));return e}function o(t){let e=t.tagName.toUpperCase();if(a.has(e))return"";let n=/^H([1-6])$/.exec(e)?.[1];if(n)return`

${"#".repeat(Number(n))} ${r(t).trim()}

`;switch(e){case"PRE":return`

\`\`\`
${t.textContent??""}
\`\`\`

`;case"CODE":return"`"+(t.textContent??"")+"`";case"STRONG":case"B":return`**${r(t).trim()}**`;case"BR":return`
`;case"LI":return`
- ${r(t).trim()}`;case"A":{let c=t.getAttribute("href")??"";return/^https?:/.test(c)?`[${r(t).trim()}](${c})`:r(t)}case"TR":return`
| ${[...t.children].map(c=>r(c).trim().replace(/\|/g,"\\|")).join(" | ")} |`;case"P":case"DIV":case"SECTION":case"BLOCKQUOTE":case"UL":case"OL":case"TABLE":return`

${r(t).trim()}

`;default:return r(t)}}export{l as readPage};
