"""The carpet scraper without Python: a page that turns it, with its crank's length on a slider, and C sources.

python examples/09_kernels_elsewhere.py [folder]      writes into folder (default build/elsewhere)
"""

import shutil
import subprocess
import sys
from pathlib import Path

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/elsewhere")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("carpet-scraper")
script = m.export(format="script", parameters=["crank.A.x"])["model.js"]
PAGE = """<!doctype html><meta charset="utf-8"><title>Carpet scraper</title>
<p>Crank <input id="angle" type="range" max="6.28" step=".01" value="0">
Length <input id="length" type="range" min=".03" max=".05" step=".0005"> <b id="torque"></b></p>
<svg viewBox="-.5 -.6 .9 1.1" width="720" style="transform:scaleY(-1)" fill="#36c3" stroke="#36c" stroke-width=".004"></svg>
<script>%s</script>
<script>
const m=mechanism,svg=document.querySelector("svg"),get=id=>document.getElementById(id);
let q=m.start.q;
get("length").value=m.parameters[0];
function draw(){
  m.set({"crank.A.x":+get("length").value});
  const found=m.assemble(q,+get("angle").value);
  if(found.ok)q=found.q;
  const v=m.velocities(q,4.71).v,loads=m.loads(q,v,m.accelerations(q,v,0).a),at=m.points(q,v).position,bodies={};
  m.names.points.forEach((name,i)=>{const body=name.split(".")[0];(bodies[body]=bodies[body]||[]).push(at[3*i]+","+at[3*i+1])});
  svg.innerHTML=Object.values(bodies).map(p=>'<polygon points="'+p.join(" ")+'"/>').join("");
  get("torque").textContent=found.ok?loads.u[0].toFixed(2)+" N m":"the links do not reach";
}
addEventListener("input",draw);draw();
</script>
"""
(folder / "scraper.html").write_text(PAGE % script, encoding="utf-8")
(folder / "scraper.js").write_text(script, encoding="utf-8")
m.export(folder / "scraper.c", kernels=["kinematics", "loads"], parameters=["crank.A.x"])
for path in sorted(folder.glob("scraper.*")):
    print(f"{path.name:<14} {path.stat().st_size / 1000:6.1f} KB")

TIMED = """
const m=require("./scraper.js"),turns=20,steps=360*turns;let best=1e9,q=m.start.q,angle=0,torque;
for(let repeat=0;repeat<10;repeat++){
  const from=process.hrtime.bigint();
  for(let i=0;i<steps;i++){
    q=m.assemble(q,angle+=Math.PI/180).q;
    const v=m.velocities(q,4.71).v;
    torque=m.loads(q,v,m.accelerations(q,v,0).a).u[0];
  }
  best=Math.min(best,Number(process.hrtime.bigint()-from)/steps/1e3);
}
console.log("node:   torque at the start "+torque.toFixed(4)+" N m; a position with speeds, torque and pin loads "+best.toFixed(1)+" us");
"""
if shutil.which("node"):
    print(subprocess.run(["node", "-e", TIMED], cwd=folder, capture_output=True, text=True, check=True).stdout.strip())
s = m.system
st = s.assemble(q={"J1": float(s.start["J1"])}, v={"J1": 4.71})
print(f"Python: torque at the start {s.inverse(st).tau['J1']:.4f} N m")
print(f"Open {folder / 'scraper.html'} in a browser.")
