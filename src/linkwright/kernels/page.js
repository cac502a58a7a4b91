// What a page needs on top of the kernels of a mechanism. Reads `kernels` and `data`, makes the object `m`.
// ES2015, no dependencies. Comments and indentation are left out of what is exported.
const CLOSED=1e-13,NEARLY=1e-10; // dimensionless residuals: round-off, and where round-off may stop progress earlier
const LONGEST=.3; // radians, or multiples of the mechanism's size, of one step: angles must not skip turns
const m={names:data.names,start:data.start,eyes:data.eyes,plane:data.plane,kernels,t:0,
	free:Float64Array.from(data.free),near:Float64Array.from(data.start.near)};
for(const k in data.start)data.start[k]=Float64Array.from(data.start[k]);
// a kernel with arrays of its own: run(...) packs its arguments (undefined: zeros), all(status) hands the results out
const bind=(name,...order)=>{
	const f=kernels[name],end=b=>Object.keys(b).reduce((n,k)=>Math.max(n,b[k][0]+b[k][1]),0);
	const x=new Float64Array(end(f.inputs)),y=new Float64Array(end(f.outputs));
	const place=k=>f.inputs[k]||[0,0],places=order.map(place),near=place("near"),free=place("free"),t=place("t");
	const put=(a,[s,n],what)=>{
		if(!n)return;
		if(a===undefined){x.fill(0,s,s+n);return}
		if(typeof a==="number")a=[a];
		if(a.length!==n)throw new RangeError(name+": "+what+" needs "+n+" numbers, not "+a.length);
		for(let i=0;i<n;i++)x[s+i]=a[i];
	};
	return{
		y,at:f.outputs,
		run(...arrays){
			for(let k=0;k<places.length;k++)put(arrays[k],places[k],order[k]);
			put(m.near,near,"near");put(m.free,free,"free");if(t[1])x[t[0]]=m.t;
			return f(x,y);
		},
		get(k){const[s,n]=f.outputs[k];return y.slice(s,s+n)},
		all(status){
			const r={ok:!status};
			for(const k in f.outputs)if(k!=="margin")r[k]=this.get(k);
			return r;
		},
	};
};
const normalise=q=>{
	for(const i of data.quaternions){
		const r=Math.hypot(q[i],q[i+1],q[i+2],q[i+3]);
		for(let k=i;k<i+4;k++)q[k]/=r;
	}
	return q;
};
const turns=kernels.turns&&bind("turns","q");
const count=q=>{if(turns&&!turns.run(q))m.near=turns.get("near")}; // whole turns of the joints between the trees
// values of free parameters by name
m.set=values=>{
	for(const k in values){
		const i=m.names.free.indexOf(k);
		if(i<0)throw new RangeError("no free parameter "+k+": "+m.names.free.join(", "));
		m.free[i]=values[k];
	}
};
if(kernels.kinematics){
	const kin=bind("kinematics","q","v","drive","speed","acceleration"),drv=bind("drives","q","v");
	const{y,at}=kin,n=m.start.q.length,w=data.scale;
	let d=new Float64Array(n),e=new Float64Array(n);
	const p=new Float64Array(n),h=new Float64Array(n),to=new Float64Array(m.names.drives.length);
	// the Newton step at q; returns the residual there
	const newton=(q,drive,step)=>{
		kin.run(q,undefined,drive);
		for(let i=0;i<n;i++)step[i]=y[at.q[0]+i]-q[i];
		return y[at.residual[0]];
	};
	// Newton's steps from q, in place, each to correct the one before by less than a quarter; `damped` steps are halved until they
	// do, which follows the flow dq/ds = -J^-1 phi. Returns the residual, NaN if it does not close.
	const close=(q,drive,damped)=>{
		let r=newton(q,drive,d);
		for(let k=0;k<200&&r>CLOSED;k++){
			let size=0;
			for(let i=0;i<n;i++)size=Math.max(size,Math.abs(d[i])/w[i]);
			for(let f=Math.min(1,LONGEST/size);;f/=2){
				if(f<1&&!damped||!(f>1e-4))return r<NEARLY?r:NaN;
				for(let i=0;i<n;i++)p[i]=q[i]+f*d[i];
				const s=newton(normalise(p),drive,e);
				let off=0;
				for(let i=0;i<n;i++)off=Math.max(off,Math.abs(e[i]-(1-f)*d[i])/w[i]);
				if(off<=size/4&&s>=0){q.set(p);[d,e]=[e,d];r=s;break}
				if(r<NEARLY)return r; // round-off stops it
			}
		}
		return r<NEARLY?r:NaN;
	};
	// drive values at q, and speeds where v is given
	m.drives=(q,v)=>drv.all(drv.run(q,v));
	// q with the drives at these values: at once where that is near, else the loops are closed where the drives are and the drives
	// walk, by steps that are halved where Newton's method hesitates. If they cannot get there q is where they got.
	m.assemble=(q,drive)=>{
		h.set(q);normalise(h);
		if(typeof drive==="number")drive=[drive];
		let r=close(h,drive,false),there=r>=0,steps=1;
		if(!there){
			h.set(q);normalise(h);
			drv.run(h);
			const from=drv.get("drive");
			r=close(h,from,true);
			for(let s=0,f=1;r>=0&&f>1e-7&&!there;steps++){
				const trial=h.slice();
				for(let i=0;i<to.length;i++)to[i]=s+f<1?from[i]+(s+f)*(drive[i]-from[i]):drive[i];
				const reached=close(trial,to,false);
				if(reached>=0){h.set(trial);count(h);r=reached;there=s+f>=1;s+=f;f=Math.min(2*f,1-s)}
				else f/=2;
			}
		}
		if(there)count(h);
		else r=newton(h,drive,d);
		return{ok:there,q:h.slice(),residual:r,steps};
	};
	m.velocities=(q,speed)=>{
		drv.run(q);
		return{ok:!kin.run(q,undefined,drv.get("drive"),speed),v:kin.get("v")};
	};
	m.accelerations=(q,v,acceleration)=>{
		drv.run(q,v);
		return{ok:!kin.run(q,v,drv.get("drive"),drv.get("speed"),acceleration),a:kin.get("a")};
	};
}
if(kernels.loads){
	const k=bind("loads","q","v","a");
	m.loads=(q,v,a)=>k.all(k.run(q,v,a));
	// [moment, force] of a pin on a body's eye at the pin: the sum over the joints there
	m.on=(loads,pin,body)=>{
		const eye=m.eyes[pin]&&m.eyes[pin][body],r=new Float64Array(6);
		if(!eye)throw new RangeError("body "+body+" has no pin "+pin);
		for(const j of eye)for(let i=0;i<6;i++)r[i]+=Math.sign(j)*loads.wrench[6*(Math.abs(j)-1)+i];
		return r;
	};
}
if(kernels.forward){
	const k=bind("forward","q","v","tau");
	m.forward=(q,v,tau)=>k.all(k.run(q,v,tau));
	if(kernels.projection){
		const p=bind("projection","q","v"),N=kernels.qdot&&bind("qdot","q","v");
		const add=(x,f,d)=>{const r=Float64Array.from(x);for(let i=0;i<r.length;i++)r[i]+=f*d[i];return r};
		// nearest state on the loops in the mass metric, positions and velocities
		m.project=(q,v)=>{
			let ok=true,r=1;
			for(let i=0;ok&&i<6&&r>CLOSED;i++){
				ok=!p.run(q,v);q=p.get("q");v=p.get("v");
				const fast=v.reduce((s,x)=>Math.max(s,Math.abs(x)),1);
				r=Math.max(p.y[p.at.residual[0]],p.y[p.at.rate_residual[0]]/fast);
			}
			if(ok&&r<NEARLY)count(q);
			return{ok:ok&&r<NEARLY,q,v,residual:r};
		};
		// one Runge-Kutta step of order four of the motion under efforts tau, then back onto the loops; m.t advances
		m.step=(q,v,dt,tau)=>{
			const t=m.t,rate=(f,x)=>{
				m.t=t+f*dt;
				const Q=x?add(q,f*dt,x.q):q,V=x?add(v,f*dt,x.a):v,bad=k.run(Q,V,tau);
				if(N)N.run(Q,V);
				return{q:N?N.get("qdot"):V,a:k.get("a"),bad};
			};
			const A=rate(0),B=rate(.5,A),C=rate(.5,B),D=rate(1,C);
			const next=(x,k)=>add(add(add(add(x,dt/6,A[k]),dt/3,B[k]),dt/3,C[k]),dt/6,D[k]);
			const r=m.project(normalise(next(q,"q")),next(v,"a"));
			r.ok=r.ok&&!(A.bad||B.bad||C.bad||D.bad);
			if(!r.ok)m.t=t;
			return r;
		};
	}
}
if(kernels.energy){
	const k=bind("energy","q","v");
	m.energy=(q,v)=>{const s=k.run(q,v),[K,U]=[k.get("kinetic")[0],k.get("potential")[0]];return{ok:!s,kinetic:K,potential:U,total:K+U}};
}
if(kernels.points){
	const k=bind("points","q","v");
	m.points=(q,v)=>k.all(k.run(q,v));
}
if(kernels.poses){
	const k=bind("poses","q");
	m.poses=q=>k.all(k.run(q));
}
